"""Set up the checkout: virtual environment, locked packages, the project itself, Pango for the PDF.

Started by ``make setup``; needs nothing but Python's standard library. Each step first looks whether its work is
already done. Only the PDF may stay unavailable at the end; everything else that fails stops with one sentence.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
VENDOR = ROOT / ".vendor"
PYTHON = VENV / "bin" / "python"
UV = VENV / "bin" / "uv"
OLDEST = (3, 11)
BOOTSTRAP = "tools/bootstrap.lock"
LOCKS = ("requirements.lock", "dev.lock")
PANGO_PACKAGES = ("libpangoft2-1.0-0", "libharfbuzz-subset0", "fontconfig")

# Without bytecode every start of the program takes three times as long.
ENV = {
    key: value
    for key, value in os.environ.items()
    if key not in ("PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV", "PYTHONPATH")
}


def say(text):
    print("setup: " + text, flush=True)


def stop(text):
    sys.exit("setup: " + text)


def run(*command, env=None, cwd=ROOT):
    """Whether the command ended well; its output goes through."""
    return subprocess.run([str(word) for word in command], env=env or ENV, cwd=str(cwd)).returncode == 0


def run_silently(*command, env=None, cwd=ROOT):
    """Whether the command ended well; what it said is shown only when it did not."""
    done = subprocess.run(
        [str(word) for word in command],
        env=env or ENV,
        cwd=str(cwd),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
    )
    if done.returncode != 0:
        print("\n".join(done.stdout.splitlines()[-5:]), file=sys.stderr)
    return done.returncode == 0


def output_of(*command, env=None, cwd=ROOT):
    """What the command printed, or None when it failed."""
    done = subprocess.run(
        [str(word) for word in command],
        env=env or ENV,
        cwd=str(cwd),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        universal_newlines=True,
    )
    return done.stdout if done.returncode == 0 else None


def is_root():
    return hasattr(os, "geteuid") and os.geteuid() == 0


def apt_install(packages):
    """Install packages with apt as root; its lists are fetched when they are missing or too old."""
    apt = shutil.which("apt-get")
    if apt is None or not is_root():
        return
    env = dict(ENV, DEBIAN_FRONTEND="noninteractive")
    quiet = (apt, "-qq", "-o", "DPkg::Lock::Timeout=120", "-o", "Dpkg::Use-Pty=0")
    install = (*quiet, "install", "-y", "--no-install-recommends", *packages)
    say("installing " + " ".join(packages) + " with apt")
    if output_of(*install, env=env) is None and run_silently(*quiet, "update", env=env):
        run_silently(*install, env=env)


def make_venv():
    """A virtual environment with pip, of this interpreter."""
    usable = "import sys, pip; sys.exit(sys.version_info < {!r})".format(OLDEST)
    if PYTHON.exists() and output_of(PYTHON, "-c", usable) is not None:
        return
    if output_of(sys.executable, "-c", "import ensurepip, venv") is None:
        # Debian splits ensurepip from the interpreter, one package for each Python version.
        package = "python{}.{}-venv".format(*sys.version_info[:2])
        apt_install((package, "ca-certificates"))
        if output_of(sys.executable, "-c", "import ensurepip, venv") is None:
            stop(
                "{} cannot make virtual environments; install the package {} and run make again.".format(
                    sys.executable, package
                )
            )
    say("making the virtual environment .venv with Python {}.{}.{}".format(*sys.version_info[:3]))
    if not run(sys.executable, "-m", "venv", "--clear", VENV):
        stop("the virtual environment .venv could not be made; the lines above say why.")


def has_locked(lock):
    """Whether the environment has every package of a lock in its version."""
    wanted = dict(re.findall(r"^([\w.-]+)==([^ \\]+)", (ROOT / lock).read_text(encoding="utf-8"), re.MULTILINE))
    listed = json.loads(output_of(PYTHON, "-m", "pip", "list", "--format", "json") or "[]")
    return wanted.items() <= {package["name"].lower(): package["version"] for package in listed}.items()


def uv_env():
    """The environment for uv, with the package index that pip is configured for."""
    listed = output_of(PYTHON, "-m", "pip", "config", "list") or ""
    index = re.search(r"index-url='([^']+)'", re.sub(r"extra-index-url=.*", "", listed))
    if index is None or {"UV_DEFAULT_INDEX", "UV_INDEX_URL"} & set(ENV):
        return ENV
    return dict(ENV, UV_DEFAULT_INDEX=index.group(1))


def install_packages():
    """The locked packages and the project, by uv where it can be had and by pip otherwise."""
    pip = (PYTHON, "-m", "pip", "--disable-pip-version-check", "--quiet")
    project = ("--no-deps", "--no-build-isolation", "--editable", ROOT)
    # Also replaces the pip and setuptools that come with the interpreter, which have known vulnerabilities.
    if not has_locked(BOOTSTRAP) and not run(*pip, "install", "--require-hashes", "-r", BOOTSTRAP):
        stop("pip, setuptools and uv could not be installed; check the connection to the package index.")
    if UV.exists():
        env = uv_env()
        uv = (UV, "--quiet", "pip")
        say("installing the locked packages")
        sync = (*uv, "sync", "--python", PYTHON, "--require-hashes", "--compile-bytecode", *LOCKS)
        if run(*sync, env=env) and run(*uv, "install", "--python", PYTHON, *project, env=env):
            return
        say("uv did not get through; trying pip, which takes about half a minute longer")
    locks = [word for lock in LOCKS for word in ("-r", lock)]
    if not run(*pip, "install", "--require-hashes", *locks):
        stop("the locked packages could not be installed; check the connection to the package index.")
    if not run(*pip, "install", *project):
        stop("the project itself could not be installed into .venv; the lines above say why.")


def pdf_state():
    """None when the PDF engine works with all its libraries, else one sentence."""
    code = "from sizer.present.fonts import pango as p; print(p.weasyprint_state() or ' '.join(p.missing_libraries()))"
    printed = output_of(PYTHON, "-c", code)
    if printed is None:
        return "the PDF engine could not be asked: sizer/present/fonts/pango.py does not run."
    return printed.strip() or None


def unpack_pango():
    """Unpack Pango and what it needs into .vendor/pango, without root.

    apt works here on lists and a cache of its own, because those of the system may be empty and only root fetches them.
    """
    apt, dpkg_deb = shutil.which("apt-get"), shutil.which("dpkg-deb")
    if apt is None or dpkg_deb is None:
        return
    VENDOR.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=str(VENDOR)) as folder:
        work = Path(folder)
        for name in ("lists/partial", "cache/archives/partial", "debs", "root"):
            (work / name).mkdir(parents=True)
        closure = (apt, "-qq", "--simulate", "install", "--no-install-recommends", *PANGO_PACKAGES)
        own = ("-o", "Dir::State::lists={}/lists".format(work), "-o", "Dir::Cache={}/cache".format(work))
        own = (*own, "-o", "Debug::NoLocking=1")
        say("unpacking Pango into .vendor, because this user may not install packages")
        for options in ((), own):  # the system's lists first: fetching our own takes longer
            if options and not run_silently(apt, "-qq", *options, "update"):
                return
            planned = output_of(*closure, *options)
            names = re.findall(r"^Inst (\S+)", planned or "", re.MULTILINE)
            if names and run_silently(apt, "-qq", *options, "download", *names, cwd=work / "debs"):
                break
        else:
            return
        packages = sorted((work / "debs").glob("*.deb"))
        if not all(run_silently(dpkg_deb, "-x", package, work / "root") for package in packages):
            return
        shutil.rmtree(str(VENDOR / "pango"), ignore_errors=True)
        (work / "root").rename(VENDOR / "pango")


def make_pdf_work():
    """Pango by the first way that works: there already, apt as root, unpacked beside the code."""
    if pdf_state() is None:
        return
    if is_root():
        apt_install(PANGO_PACKAGES)
    else:
        unpack_pango()
    state = pdf_state()
    if state is None:
        return
    if " " in state:
        say("everything but the PDF works: " + state)
    else:
        say("everything works, but PDFs take longer without " + state)


def main():
    if sys.version_info < OLDEST:
        stop("Python 3.11 or newer is needed, {} is {}.{}.".format(sys.executable, *sys.version_info[:2]))
    make_venv()
    install_packages()
    make_pdf_work()
    say("done")


if __name__ == "__main__":
    main()
