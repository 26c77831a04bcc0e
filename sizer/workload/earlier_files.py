"""What files of earlier versions say in another place or form, as a request says it now."""


def with_one_customer(data: object) -> object:
    """A request as its file holds it, with the customer in one place.

    Files could name the customer in the quote as well, as ``prepared_for``. Documents printed that name, so that it is
    the customer.
    """
    quote = data.get("quote") if isinstance(data, dict) else None
    if not isinstance(data, dict) or not isinstance(quote, dict) or "prepared_for" not in quote:
        return data
    others = {key: value for key, value in quote.items() if key != "prepared_for"}
    return {**data, "quote": others, **({"customer": quote["prepared_for"]} if quote["prepared_for"] else {})}


def empty_as_none(table: object) -> object:
    """A table of the request; an empty one, as files had where nothing is requested, is none."""
    return None if table == {} else table
