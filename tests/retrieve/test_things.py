from kgrag.retrieve.things import Things
from kgrag.store.search_rows import ThingRow


def row(title: str, product: str | None = None, category: str | None = None) -> ThingRow:
    return {"id": title, "title": title, "product": product, "category": category}


def test_products_are_things_where_documents_are_about_them_and_other_documents_are_none() -> None:
    rows = [
        row("X-100 data sheet", "X-100", "controllers"),
        row("X-100 user guide", "X-100", "controllers"),
        row("X-1000 data sheet", "X-1000", "controllers"),
        row("Selection guide", "portfolio", "general"),
    ]
    things = Things(rows)
    assert [(thing.name, len(thing.documents)) for thing in things.all] == [("X-100", 2), ("X-1000", 1)]
    assert [thing.name for thing in things.meant_by(["controllers"])] == ["X-100", "X-1000"]


def test_documents_in_a_folder_that_is_no_product_are_known_by_their_titles() -> None:
    titles = ["Kernel driver lm75", "Kernel driver tmp102", "Kernel driver sht21"]
    things = Things([row(title, "hwmon") for title in titles])
    assert [thing.name for thing in things.all] == sorted(titles)
    assert len(things.meant_by(["drivers"])) == 3
    assert things.meant_by(["products"]) == []


def test_a_folder_whose_name_is_only_a_part_of_a_programs_name_is_no_product() -> None:
    things = Things([row("mod_tags - Acme server", "mod"), row("mod_lines - Acme server", "mod")])
    assert [thing.name for thing in things.all] == ["mod_lines - Acme server", "mod_tags - Acme server"]
    assert things.meant_by(["modules"]) == []


def test_a_folder_whose_letters_stand_in_a_title_by_chance_is_no_product() -> None:
    titles = ["Pump rules", "STATUSREPORT"]
    assert [thing.name for thing in Things([row(title, "usr") for title in titles]).all] == titles


def test_a_product_whose_name_has_a_code_within_is_a_thing() -> None:
    things = Things([row("Cat. M1_NB Shield", "Cat. M1_NB Shield"), row("Relay Shield", "Relay Shield")])
    assert [thing.name for thing in things.meant_by(["shields"])] == ["Cat. M1_NB Shield", "Relay Shield"]
