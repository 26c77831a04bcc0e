"""The team of a request on its design, as plain text for a terminal: the tables of the guide."""

from sizer.present.plain_table import table_text
from sizer.present.words import percent, plural
from sizer.questions.team import tables
from sizer.questions.team.analysis import TeamAnswer


def team_text(title: str, design: str, answer: TeamAnswer) -> str:
    """Jobs, waits on the design and on other sizes, what is read, Erlang's reading, and what was taken for granted."""
    made = (
        tables.jobs_table(answer),
        tables.waits_table(answer),
        tables.sizes_table(answer),
        tables.demand_table(answer),
        tables.gpus_table(answer.run),
        tables.erlang_table(answer),
        tables.origins_table(answer),
    )
    parts = [f"{title}\n{'=' * len(title)}\n{_verdict(design, answer)}"]
    parts += [table_text(table) for table in made if table is not None]
    parts.append("\n".join(f"Assumed: {sentence}" for sentence in answer.assumptions))
    return "\n\n".join(parts)


def _verdict(design: str, answer: TeamAnswer) -> str:
    run = answer.run
    if answer.model.case.queue:
        said = f"{design} {'meets' if run.meets else 'misses'} the waits of the team"
    else:
        said = f"{design}: {'every' if run.all_placed else 'not every'} job that always runs has its GPUs"
    text = f"{said}; {percent(run.gpus_busy_fraction)} of its {plural(run.n_gpus, 'GPU')} are busy on average."
    if answer.n_servers_for_waits < run.n_servers:
        fewest = plural(answer.n_servers_for_waits, "server")
        text += f" The waits alone need {fewest}; the workloads' own targets need the rest."
    return text
