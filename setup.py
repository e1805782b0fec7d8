"""The extension modules of ``zarr_core`` (every ``.pyx`` there) and their compiler flags, nothing else.

``ZARR_CORE_DEBUG=1`` builds with every Cython check on and, where the compiler has them, AddressSanitizer and UBSan;
``ZARR_CORE_DEBUG=thread`` with ThreadSanitizer.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

try:
    from setuptools.errors import CCompilerError, CompileError, ExecError, PlatformError
except ImportError:
    from distutils.errors import CCompilerError, CompileError
    from distutils.errors import DistutilsExecError as ExecError
    from distutils.errors import DistutilsPlatformError as PlatformError

# dlopen and threads live in separate libraries on older Linux C libraries.
LIBRARIES = ["dl", "pthread"] if sys.platform.startswith("linux") else []

HERE = Path(__file__).resolve().parent
DEBUG = os.environ.get("ZARR_CORE_DEBUG", "") not in ("", "0")
MSVC = sys.platform == "win32"
SANITIZER = "thread" if os.environ.get("ZARR_CORE_DEBUG") == "thread" else "address,undefined"
SANITIZE = [f"-fsanitize={SANITIZER}"] if DEBUG and not MSVC else []

DIRECTIVES: dict[str, Any] = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "wraparound": False,
    "initializedcheck": DEBUG,
    "nonecheck": DEBUG,
    "overflowcheck": False,
    "cdivision": True,
    "freethreading_compatible": True,
    "embedsignature": True,
}

NO_COMPILER = """
zarr's compiled core (zarr_core) could not be built: {error}

A C compiler is needed to install zarr from source:
  Debian, Ubuntu   apt install build-essential
  Fedora           dnf install gcc
  macOS            xcode-select --install
  Windows          the "Desktop development with C++" workload of Visual Studio Build Tools
  conda            conda install -c conda-forge c-compiler
A prebuilt wheel (pip install --only-binary zarr zarr) needs none.
"""


class BuildExtensions(build_ext):
    """``build_ext`` that says what to install when no compiler is found."""

    def run(self) -> None:
        try:
            super().run()
        except (CCompilerError, CompileError, ExecError, PlatformError) as error:
            raise SystemExit(NO_COMPILER.format(error=error)) from error


def compile_args() -> list[str]:
    """Return the flags of one module; never ``-march=native``, since a wheel must run on other machines."""
    if MSVC:
        return ["/Od", "/Zi"] if DEBUG else ["/O2"]
    if DEBUG:
        return ["-O1", "-g", "-fno-omit-frame-pointer", *SANITIZE, "-fno-sanitize-recover=all"]
    # -g0: many builds of Python add -g to the flags of all modules, which makes them five times as large.
    return ["-O3", "-g0", "-fno-math-errno", "-Wno-unused-function", "-Wno-unreachable-code"]


def extensions() -> list[Extension]:
    """One extension per ``zarr_core/*.pyx``."""
    return [
        Extension(
            f"zarr_core.{source.stem}",
            [f"zarr_core/{source.name}"],
            include_dirs=[numpy.get_include(), "zarr_core"],
            define_macros=[
                ("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION"),
                ("NPY_TARGET_VERSION", "NPY_2_0_API_VERSION"),
            ],
            extra_compile_args=compile_args(),
            extra_link_args=SANITIZE,
            libraries=LIBRARIES,
        )
        for source in sorted((HERE / "zarr_core").glob("*.pyx"))
    ]


setup(
    ext_modules=cythonize(
        extensions(),
        compiler_directives=DIRECTIVES,
        build_dir="build/cython-debug" if DEBUG else "build/cython",
        force=DEBUG,
        nthreads=os.cpu_count() or 1,
    ),
    cmdclass={"build_ext": BuildExtensions},
    options={"build_ext": {"parallel": os.cpu_count() or 1}},
)
