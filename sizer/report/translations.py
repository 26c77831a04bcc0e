"""Templates in the language of the document: their static text is translated like that of the code."""

from jinja2 import Environment

from sizer.base.language import form, translated

EXTENSION = "jinja2.ext.i18n"


def install_translations(environment: Environment) -> None:
    """Teach an environment ``{% trans %}`` and ``_()``, in the language that is spoken when a page is made.

    Line breaks and indents inside a message count as one space, so that a message does not change with the template.
    """
    environment.add_extension(EXTENSION)
    environment.policies["ext.i18n.trimmed"] = True
    environment.install_gettext_callables(  # type: ignore[attr-defined]
        _message, _message_of_count, newstyle=True, pgettext=_message_in_context
    )


def _message(message: str) -> str:
    return _as_format(message, translated(message))


def _message_of_count(one: str, many: str, count: int) -> str:
    return _as_format(one + many, form(one, many, count))


def _message_in_context(context: str, message: str) -> str:
    return _as_format(message, translated(message, context))


def _as_format(message: str, text: str) -> str:
    """Text that templates fill in by ``%``. A message has ``%%`` for a sign; one without can only have a plain sign."""
    return text if "%" in message else text.replace("%", "%%")
