"""What two records say against each other, and what only one of them says."""

import pytest

from kgrag.resolve import contradiction


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ("Hose 12 mm, 5 m long", "Hose of 24 mm", "mm: 12 against 24"),
        ("hub 4-port", "hub of 7 parts", ""),
        ("tank 14.1 kg", "tank 14 kg", ""),  # rounded
        ("tank 14.1 kg", "tank 15 kg", "kg: 14.1 against 15"),
        ("hub 4-port", "hub 7 port", "port: 4 against 7"),
        ("screen 84 x 84", "screen 84 x 47", ""),  # one side may be said otherwise
        ("screen 84 x 63", "screen 96 x 47", "size: 63 x 84 against 47 x 96"),
        ("valve ts-1674r", "valve tb-2000r", "model number: ts1674r against tb2000r"),
        ("valve ts-1674r", "valve TS1674R, brass", ""),
        ("pump 12 v", "pump, silent", ""),
    ],
)
def test_only_what_both_records_state_contradicts(one: str, other: str, said: str) -> None:
    assert contradiction(one, other) == said
    assert bool(contradiction(other, one)) == bool(said)


def test_identifiers_contradict_where_they_have_one_shape_and_no_title_has_the_others() -> None:
    assert contradiction("pump", "pump", identifiers=("MX-1044", "MX-2055")) == "identifier: mx1044 against mx2055"
    assert (
        contradiction("pump mx1044", "pump", identifiers=("MX-1044", "MX-2055")) == "identifier: mx1044 against mx2055"
    )
    assert contradiction("pump", "pump mx1044", identifiers=("MX-1044", "MX-2055")) == ""
    assert contradiction("pump", "pump", identifiers=("MX-1044", "22-7")) == ""
    assert contradiction("pump", "pump", identifiers=("", "MX-2055")) == ""
