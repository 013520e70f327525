"""A xacro file is data: it runs nothing, and what it asks for is bounded."""

import os
import time

import pytest

from armature.errors import FileError
from armature.robot.load.xacro import expand

HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
PAYLOADS = [
    (
        "[c for c in (1).__class__.__base__.__subclasses__() if c.__name__ == 'Popen'][0](['touch',"
        " 'FILE'])"
    ),
    (
        "[g.gi_frame.f_back.f_back.f_globals['__builtins__']['open']('FILE', 'w') for g in [(x for"
        " x in [1])]]"
    ),
    "(lambda: ().__class__.__bases__[0].__subclasses__())()",
    "__import__('os').system('touch FILE')",
    "open('FILE', 'w').write('x')",
    "math.__loader__.load_module('os').system('touch FILE')",
    "xacro.load_yaml.__globals__['os'].system('touch FILE')",
    "load_yaml.call.__globals__['os'].system('touch FILE')",
    "'{0.__class__.__mro__}'.format(1)",
    "'x'.__class__.__init__.__globals__",
    "str.__dict__",
    "getattr(1, '__class__')",
    "eval('open(chr(47))')",
    "[].append.__self__.__class__",
    "type(1)",
    "f'{().__class__}'",
    "(x := 3)",
    "dict(**{'a': 1})",
    "max([1], key=print)",
    "python.vars()",
    "1j",
    "(await x)",
    "...",
    "map('x'.format, [1])[0].__class__",
]


def write(tmp_path, body):
    path = tmp_path / "attack.xacro"
    path.write_text(f"{HEAD}{body}</robot>")
    return path


@pytest.mark.parametrize(
    "form", ['<link name="${%s}"/>', '<link name="$(eval %s)"/>', '<xacro:if value="${%s}"/>']
)
@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_expression_reaches_python(tmp_path, payload, form):
    mark = tmp_path / "made_by_the_file"
    text = payload.replace("FILE", str(mark)).replace("<", "&lt;")
    if "$(eval" in form:
        text = text.replace('"', "'")
    with pytest.raises(
        FileError,
        match=(
            r"attack\.xacro:1: .*(not allowed|not defined|may call|cannot be computed|well"
            r" formed|not a|no key|\*\*)"
        ),
    ):
        expand(write(tmp_path, form % text))
    assert not mark.exists()


def test_yaml_tags_make_no_objects(tmp_path):
    mark = tmp_path / "made_by_yaml"
    (tmp_path / "a.yaml").write_text(
        f"a: !!python/object/apply:os.system ['touch {mark}']\nb: !degrees __import__('os')\n"
    )
    with pytest.raises(FileError):
        expand(write(tmp_path, "<a v=\"${xacro.load_yaml('a.yaml')}\"/>"))
    assert not mark.exists()


TENFOLD = "".join(
    f'<xacro:macro name="m{k}">{f"<xacro:m{k - 1}/>" * 10 if k else "<a/>"}</xacro:macro>'
    for k in range(10)
)
BLOCKS = "".join(
    "<xacro:property"
    f' name="b{k}">{f"""<xacro:insert_block name="b{k - 1}"/>""" * 10 if k else "<a/>"}</xacro:property>'
    for k in range(10)
)
DOUBLED = "".join(
    f'<xacro:property name="t{k}" value="{f"${{t{k - 1}}}${{t{k - 1}}}" if k else "xxxxxxxxxx"}"/>'
    for k in range(40)
)
LISTS = "".join(
    f'<xacro:property name="l{k}" value="{f"${{[l{k - 1}, l{k - 1}]}}" if k else "${[1, 2]}"}"/>'
    for k in range(40)
)
BOMBS = {
    "a macro that expands 10⁹ times": TENFOLD + "<xacro:m9/>",
    "a block that is inserted 10⁹ times": BLOCKS + '<xacro:insert_block name="b9"/>',
    "a macro that calls itself": '<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>',
    "a macro that calls itself twice": (
        '<xacro:macro name="m"><a/><xacro:m/><xacro:m/></xacro:macro><xacro:m/>'
    ),
    "a text doubled forty times": DOUBLED + '<a v="${t39}"/>',
    "a list doubled forty times": LISTS + '<a v="${l39}"/>',
    "lists compared": LISTS + '<a v="${l30 == l31}"/>',
    "a power": '<a v="${9**9**9**9}"/>',
    "many powers": '<a v="${(2**4000)*(2**4000)}"/>',
    "a repeated text": "<a v=\"${'x' * 10**9}\"/>",
    "a wide format": "<a v=\"${'%999999999d' % 1}\"/>",
    "a wide named format": "<a v=\"${'%(a(b)c)999999999d' % {'a(b)c': 1}}\"/>",
    "a long range": '<a v="${[i for i in range(10**9)]}"/>',
    "nested rounds": '<a v="${[1 for i in range(10**4) for j in range(10**4)]}"/>',
    "joined texts": "<a v=\"${('x' * 100000).join(['y'] * 100000)}\"/>",
    "replaced texts": "<a v=\"${('x' * 100000).replace('x', 'y' * 100000)}\"/>",
    "deep brackets": '<a v="${' + "(" * 3000 + "1" + ")" * 3000 + '}"/>',
    "deep signs": '<a v="${' + "-" * 7000 + '1}"/>',
    "deep sums": '<a v="${' + "+".join(["1"] * 3900) + '}"/>',
    "a huge number": '<a v="${' + "9" * 6000 + '}"/>',
    "properties by each other": (
        '<xacro:property name="a" value="${b}"/><xacro:property name="b" value="${a}"/><x'
        ' v="${a}"/>'
    ),
    "a long chain of properties": (
        "".join(f'<xacro:property name="p{k}" value="${{p{k + 1}}}"/>' for k in range(500))
        + '<x v="${p0}"/>'
    ),
    "a file that includes itself": '<xacro:include filename="attack.xacro"/>',
    "a pattern over all folders": '<xacro:include filename="/*/*/*/*/*/zzz*"/>',
    "a device": '<xacro:include filename="/dev/zero"/>',
    "a pipe": "<a v=\"${xacro.load_yaml('pipe')}\"/>",
    "a long file name": "<a v=\"${xacro.load_yaml('x' * 5000)}\"/>",
    "a zero byte": "<a v=\"${chr(0)}${'\\x00'}\"/>",
    "parameters without end": f'<xacro:macro name="m" params="{"a:=" * 20_000}"/>',
}


@pytest.mark.parametrize("name", BOMBS)
def test_what_a_file_asks_for_is_bounded(tmp_path, name):
    os.mkfifo(tmp_path / "pipe")
    path, start = write(tmp_path, BOMBS[name]), time.process_time()
    with pytest.raises(FileError) as caught:
        expand(path)
    assert "\n" not in str(caught.value) and any(
        place in str(caught.value) for place in (str(path), "/dev/zero", "pipe")
    )
    assert time.process_time() - start < 10
