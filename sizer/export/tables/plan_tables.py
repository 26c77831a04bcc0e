"""The building plan as plain tables, made once: workbook, CSV files and app only write them."""

from sizer.catalog.model import Catalog
from sizer.export.tables.cable_table import cable_sheet, cable_summary
from sizer.export.tables.expansion_table import growth_sheet
from sizer.export.tables.power_table import power_sheet
from sizer.export.tables.rack_tables import elevation_sheet, facility_sheet, rack_sheet
from sizer.export.tables.table import Sheet
from sizer.sizing.design.storage_need import next_sizes
from sizer.sizing.result import SizingResult


def plan_sheets(result: SizingResult, catalog: Catalog) -> tuple[Sheet, ...]:
    """Every table of the documented design's plan: cables, power, racks, elevations, facility, growth.

    A customer's copy has cables and links that move summed up by kind, and no list of outlets; who installs gets the
    cable list as a file.

    Parameters
    ----------
    result : SizingResult
        The answer.
    catalog : Catalog
        Names and part numbers of what the plan uses.
    """
    plan, site = result.design.plan, result.request.site
    if result.design.bill.is_customer_copy:
        return (
            cable_summary(plan, catalog),
            rack_sheet(plan),
            elevation_sheet(plan, catalog),
            facility_sheet(plan, catalog, site),
            growth_sheet(plan, catalog, next_sizes(result.design), is_summed=True),
        )
    return (
        cable_sheet(plan, catalog),
        power_sheet(plan, catalog),
        rack_sheet(plan),
        elevation_sheet(plan, catalog),
        facility_sheet(plan, catalog, site),
        growth_sheet(plan, catalog, next_sizes(result.design)),
    )
