"""Which products documents name, and which are only what their folder is called: `usr`, `html`."""

from __future__ import annotations

from collections.abc import Iterable

from kgrag.text.name_shapes import code_names
from kgrag.text.names import Gazetteer, normal_form

__all__ = ["titled_products"]


def titled_products(documents: Iterable[tuple[str | None, str]]) -> set[str]:
    """Return the products that the title of one of their documents has, in their normal form. `documents`: product and title of each.

    A title does not have what is only a part of a program's or setting's name there: `mod` of `mod_ssl`.
    """
    known = [(product, title) for product, title in documents if product]
    products = Gazetteer({product for product, _ in known})
    return {normal for product, title in known if (normal := normal_form(product)) in _named(title, products)}


def _named(title: str, products: Gazetteer) -> set[str]:
    found = {match.key for match in products.find(title)}
    names = {name: normal_form(name) for name in (code_names(title) if found else ())}
    longer = [name for name, form in names.items() if form not in found and any(one in form for one in found)]
    for name in longer:
        title = title.replace(name, " ")
    return found & {match.key for match in products.find(title)} if longer else found
