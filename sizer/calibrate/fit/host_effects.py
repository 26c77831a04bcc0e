"""Parameters that the host's work per sample adds up: a line for each format, factors for loaders, stacks and CPUs."""

from dataclasses import dataclass

from sizer.catalog.sample_formats import SampleFormat

REFERENCE_LOADER = "framework/tensorflow"
PYTHON_LOADER = "python"
# Frameworks whose loader decodes in Python processes; those of the others are compiled.
_PYTHON_FRAMEWORKS = ("pytorch", "paddlepaddle", "chainer")
DALI = "dali"
# Tiles of a slide are JPEG.
_LINE_OF = {SampleFormat.SLIDES: SampleFormat.JPEG}
_COMPRESSED_IMAGES = (SampleFormat.JPEG, SampleFormat.SLIDES)


@dataclass(frozen=True)
class HostTask:
    """What the host does for one sample."""

    sample_format: SampleFormat
    loader: str  # of the stack: framework, dali, dali-cpu or none
    framework: str
    stack: str
    library: str = ""  # that decodes, where a test names it
    cpu: str = ""  # processor where a test names one unlike those of the catalogue
    is_python: bool = False  # a reader in Python beside a framework whose own loader is compiled
    has_fixed_part: bool = True  # False: a test that only reads or decodes

    def __post_init__(self) -> None:
        if self.loader not in ("framework", "dali", "dali-cpu", "none"):
            raise ValueError(f"loader must be framework, dali, dali-cpu or none, got {self.loader!r}")

    @property
    def line(self) -> str:
        """Name of the line: that of the format, or of images that the GPU decodes."""
        if self.sample_format in _COMPRESSED_IMAGES and self.loader == DALI:
            return DALI
        return _LINE_OF.get(self.sample_format, self.sample_format)

    @property
    def fixed(self) -> str:
        """Parameter of the part that does not grow with the sample."""
        return f"host-fixed:{self.line}"

    @property
    def per_byte(self) -> str:
        """Parameter of the part that grows with the sample."""
        return f"host-per-byte:{self.line}"

    @property
    def loader_level(self) -> str:
        """Name under which the fit keeps the loader of compressed images.

        DALI on the CPU is one library whatever the framework, and so are readers in Python. A stack without a loader of
        its own needs one to read images; the line is that of the reference loader.
        """
        if self.loader == "dali-cpu":
            return self.loader
        if self.loader == "none":
            return REFERENCE_LOADER
        is_python = self.is_python or self.framework in _PYTHON_FRAMEWORKS
        return PYTHON_LOADER if is_python else f"framework/{self.framework}"

    @property
    def factors(self) -> tuple[str, ...]:
        """Parameters that multiply the line."""
        found = [f"host-cpu:{self.cpu}"] if self.cpu else []
        if self.line == DALI:
            return tuple(found)
        if self.line != SampleFormat.JPEG:
            return (*found, f"host-stack:{self.stack}/{self.line}")
        if not self.has_fixed_part:
            return (*found, f"host-stack:{self.stack}", f"host-library:{self.library}")
        level = self.loader_level
        if level != REFERENCE_LOADER:
            found.append(f"host-loader:{level}")
        if level == PYTHON_LOADER:
            found.append(f"host-library:{self.library}")
        return (*found, f"host-stack:{self.stack}")
