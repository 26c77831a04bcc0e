"""The data of a design, as plain text for a terminal."""

from sizer.present.plain_table import WIDTH, clean, table_text
from sizer.questions.data.analysis import DataPlan
from sizer.questions.data.tables import (
    account_table,
    checkpoints_table,
    copies_table,
    copy_text,
    decoded_table,
    fill_text,
    taken_table,
    transform_text,
    validation_table,
    ways_table,
)


def data_text(title: str, design: str, plan: DataPlan) -> str:
    """Capacity, ways in, checkpoints, transforming, validation, copies, and what was taken for granted."""
    title = clean(title)
    parts = [f"{title}\n{'=' * min(len(title), WIDTH)}\n{clean(design)}", table_text(account_table(plan))]
    tables = (
        ways_table(plan.ingest),
        checkpoints_table(plan.checkpoints),
        validation_table(plan.validations),
        decoded_table(plan.decoded),
        copies_table(plan.copies),
        taken_table(plan.assumptions),
    )
    sentences = [fill_text(plan.ingest), *(copy_text(one) for one in plan.copies)]
    if plan.transform is not None:
        sentences.insert(1, transform_text(plan.transform))
    parts.append("\n".join(clean(sentence) for sentence in sentences))
    parts += [table_text(table) for table in tables if table is not None]
    parts.append("\n".join(f"To ask: {clean(question)}" for question in plan.questions))
    return "\n\n".join(parts)
