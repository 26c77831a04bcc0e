"""``sizer doctor``: checks the installation."""

from sizer.cli.options import AsJson, print_document


def doctor_command(as_json: AsJson = False) -> None:
    """Check the installation: what works, what is missing, and the next step."""
    from sizer.guide.pdf.doctor import set_up_state

    checks = set_up_state()
    if as_json:
        print_document(
            "doctor",
            checks=[{name: getattr(c, name) for name in ("name", "ok", "detail", "next_step")} for c in checks],
        )
        return
    for check in checks:
        print(
            f"{'ok     ' if check.ok else 'missing'}  {check.name}: {check.detail}"
            + (f" -> {check.next_step}" if check.next_step else "")
        )
