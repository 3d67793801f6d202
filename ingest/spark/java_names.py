"""Names of Java's classes and their methods, which Python asks for once.

PySpark asks again at each use. A name that it has imported is looked for in one package after the
other, each in every jar, until one has it: of what `col("a") + lit(1)` takes that is half.
"""

from __future__ import annotations

from typing import Any

from py4j.java_gateway import JavaClass, JavaMember, JavaPackage, JVMView


def keep_names(jvm: JVMView) -> None:
    """Have this view of Java keep what it has found: a class stays what it is."""
    _kept(jvm)


def _kept(found: Any) -> Any:
    # As it is, so that what py4j knows of it stays: PySpark asks whether a name is a package.
    kind = _KINDS.get(type(found))
    if kind:
        found.__class__ = kind
    return found


class _View(JVMView):  # type: ignore[misc]
    def __getattr__(self, name: str) -> Any:
        found = self.__dict__[name] = _kept(super().__getattr__(name))
        return found


class _Package(JavaPackage):  # type: ignore[misc]
    def __getattr__(self, name: str) -> Any:
        found = self.__dict__[name] = _kept(super().__getattr__(name))
        return found


class _Class(JavaClass):  # type: ignore[misc]
    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        # The value of a field may be another one next time.
        if isinstance(found, JavaMember):
            self.__dict__[name] = found
        return found


_KINDS = {JVMView: _View, JavaPackage: _Package, JavaClass: _Class}
