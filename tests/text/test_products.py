import pytest

from kgrag.text.products import titled_products


@pytest.mark.parametrize(
    ("product", "title", "is_named"),
    [
        ("X-100", "The X 100 board", True),
        ("X-100", "The X-1000 board", False),
        ("usr", "STATUSREPORT", False),
        ("mod", "mod_tags - Acme server", False),
        ("Cat. M1_NB Shield", "Cat. M1_NB Shield: user guide", True),
        ("C++", "The C handbook", False),
    ],
)
def test_a_title_has_a_product_as_words_of_its_own(product: str, title: str, is_named: bool) -> None:
    assert bool(titled_products([(product, title), (None, product)])) == is_named
