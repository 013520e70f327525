"""Our xacro processor against the `xacro` package (a witness for tests only): the same canonical XML of the same file."""

import contextlib
import io
import math
import warnings

import pytest
from lxml import etree

from armature.errors import ArmatureWarning, FileError
from armature.robot import load
from armature.robot.load.packages import find_package
from armature.robot.load.xacro import expand

HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'

DOCUMENTS = {
    "properties": (
        """
        <xacro:property name="a" value="${2 * b}"/><xacro:property name="b" value="1.5"/>
        <xacro:property name="text" value="'12'"/><xacro:property name="name_1" value="1_000"/>
        <xacro:property name="kept" default="7"/><xacro:property name="kept" default="8"/>
        <xacro:property name="gone" value="1"/><xacro:property name="gone" remove="true"/><xacro:property name="gone" default="2"/>
        <xacro:property name="greedy" value="${b}" lazy_eval="false"/><xacro:property name="b" value="3"/>
        <link name="l" a="${a}" t="${text}" n="${name_1}" k="${kept}" g="${gone}" y="${greedy} ${b}" plain="$5 {x}" esc="$${a}"/>
        <xacro:property name="${'made' + '_here'}" value="1"/><x made="${made_here}"/>"""
    ),
    "expressions": (
        """
        <xacro:property name="d" value="${dict(x=1, y=[1, 2, dict(z='deep')])}"/><xacro:property name="flag" value="true"/>
        <a v="${-pi/2}" w="${round(sin(radians(30)), 6)}" x="${d['y'][2]['z']}" y="${d['x'] + 1 if flag else 0}" z="${not flag}"/>
        <b v="${1 if 3 &gt; 2 and 2 in [1, 2] else 2}" w="${'left' == 'left'}" x="${'a_b_c'.split('_')[1]}" y="${' '.join(['1', '2'])}"/>
        <c v="${[i * 2 for i in range(4) if i != 1]}" x="${max(1, 2, 3)}" y="${len('four')}" z="${7 // 2} ${7 % 4} ${2 ** 10}"/>
        <d v="${list(map(float, '1 2 3'.split()))}" w="${math.atan2(1, 2)}" x="${str(1.50)}" y="${int('7') + float('0.5')}" z="${'%.3f' % pi}"/>
        <f>${1 + 1} and $(eval 1 + 1) $(optenv NOT_SET_AT_ALL a b)</f>"""
    ),
    "macros": (
        """
        <xacro:property name="outer" value="5"/>
        <xacro:macro name="m" params="a b:=2 c:='x y' outer:=^ other:=^|9 d:=${outer + 1} *one **many">
          <m a="${a}" b="${b}" c="${c}" outer="${outer}" other="${other}" d="${d}"><xacro:insert_block name="one"/><xacro:insert_block name="many"/></m>
        </xacro:macro>
        <xacro:m a="1"><first v="${outer}"/><any><second/><third>t</third></any></xacro:m>
        <xacro:m a="${outer}" b="0" other="q"><first/><any/></xacro:m>
        <xacro:macro name="set" params=""><xacro:property name="up" value="${outer * 2}" scope="parent"/>
          <xacro:property name="top" value="${outer * 3}" scope="global"/></xacro:macro>
        <xacro:set/><x up="${up}" top="${top}"/>
        <xacro:property name="which" value="set"/><xacro:call macro="${which}"/>
        <xacro:macro name="count" params="n"><xacro:if value="${n}"><c n="${n}"/><xacro:count n="${n - 1}"/></xacro:if></xacro:macro>
        <xacro:count n="4"/>"""
    ),
    "blocks": (
        """
        <xacro:property name="b"><origin xyz="${v} 0 0"/><y/></xacro:property><xacro:property name="v" value="3"/>
        <link><xacro:insert_block name="b"/></link><xacro:property name="v" value="4"/><link><xacro:insert_block name="b"/></link>"""
    ),
    "conditions": (
        """
        <xacro:arg name="mode" default="false"/><xacro:property name="n" value="0"/>
        <xacro:if value="$(arg mode)"><yes/></xacro:if><xacro:unless value="$(arg mode)"><no/></xacro:unless>
        <xacro:if value="${n == 0 and not False}"><zero/>tail</xacro:if><xacro:if value="1"><one/></xacro:if><xacro:unless value="True"><never/></xacro:unless>"""
    ),
    "arguments": (
        """
        <xacro:arg name="x" default="1"/><xacro:arg name="y" default="$(arg x)2"/><xacro:arg name="given" default="no"/>
        <a x="$(arg x)" y="$(arg y)" g="$(arg given)" z="${$(arg y) + 1}" e="$(eval y + 1)"/>"""
    ),
    "elements": (
        """
        <xacro:element xacro:name="${'ma' + 'de'}" a="${1+1}"><inner/></xacro:element>
        <link><xacro:attribute name="name" value="${'l' + str(1)}"/></link>"""
    ),
    "files": (
        """
        <xacro:include filename="part.xacro"/><xacro:include filename="missing.xacro" optional="true"/>
        <xacro:include filename="sub/*.xacro"/><xacro:include filename="space.xacro" ns="s"/>
        <a x="${from_part}" y="${s.inside}"/><xacro:part_macro/><xacro:s.space_macro/>
        <xacro:property name="y" value="${xacro.load_yaml('values.yaml')}"/>
        <b x="${y['angles']['a']}" y="${y.angles.b}" z="${y['list'][1]}" t="${y['on']}" s="${y['text']}" m="${y['length']}"/>
        <c f="$(find own_description)/meshes"/>"""
    ),
}

FILES = {
    "package.xml": "<package><name>own_description</name></package>",
    "part.xacro": (
        HEAD + '<xacro:property name="from_part" value="11"/><xacro:macro'
        ' name="part_macro"><p/></xacro:macro></robot>'
    ),
    "space.xacro": (
        HEAD + '<xacro:property name="inside" value="12"/><xacro:macro name="space_macro"><s'
        ' v="${inside}"/></xacro:macro></robot>'
    ),
    "sub/one.xacro": HEAD + "<one/></robot>",
    "sub/two.xacro": HEAD + '<xacro:include filename="../part.xacro"/><two/></robot>',
    "values.yaml": (
        "angles: {a: !degrees 90, b: !radians pi/2}\nlist: [1, 2.5]\n'on': yes\ntext: 'no'\nlength:"
        " !millimeters 1500\n"
    ),
}


def canonical(root):
    """Canonical XML without white space and without our marks."""
    for element in root.iter():
        for key in [k for k in element.attrib if k.startswith("{urn:armature}")]:
            del element.attrib[key]
    return etree.tostring(root, method="c14n2", strip_text=True, with_comments=False)


def witnessed(path, arguments):
    """What the `xacro` package makes of a file."""
    xacro = pytest.importorskip("xacro")
    from xacro import substitution_args

    substitution_args._eval_find = lambda package: str(find_package(package, [path.parent]))
    with contextlib.redirect_stderr(io.StringIO()):
        document = xacro.process_file(str(path), mappings=dict(arguments))
    return canonical(
        etree.fromstring(document.toxml().encode(), etree.XMLParser(remove_comments=True))
    )


@pytest.fixture
def folder(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def write(folder, body, name="main.xacro"):
    path = folder / name
    path.write_text(f"{HEAD}{body}</robot>")
    return path


@pytest.mark.parametrize("name", DOCUMENTS)
def test_expansion_equals_that_of_the_xacro_package(folder, name):
    path, arguments = (
        write(folder, DOCUMENTS[name]),
        {"given": "yes"} if name == "arguments" else {},
    )
    ours = canonical(expand(path, arguments))
    assert ours == witnessed(path, arguments) and len(ours) > 60


def test_more_expressions_than_the_package_allows(folder):
    path = write(
        folder,
        '<a m="${{\'k\': 3}[\'k\']}" e="$(eval max(1, 2) + abs(-1))" t="${true}"'
        " k=\"${xacro.load_yaml('values.yaml').list[0]}\"/>",
    )
    assert [expand(path)[0].get(key) for key in "metk"] == ["3", "3", "True", "1"]


ARM = """<xacro:macro name="arm" params="name prefix parent *origin">
  <link name="${prefix}base"/><joint name="${prefix}fix" type="fixed"><parent link="${parent}"/><child link="${prefix}base"/>
  <xacro:insert_block name="origin"/></joint><link name="${prefix}tip"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"
  ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="${prefix}turn" type="revolute"><parent link="${prefix}base"/>
  <child link="${prefix}tip"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="9" velocity="2"/></joint></xacro:macro>"""


def test_a_file_of_one_macro_that_needs_only_names_and_a_place_opens(tmp_path):
    with pytest.warns(ArmatureWarning, match="only defines the macro 'arm'"):
        robot = load(write(tmp_path, ARM))
    assert robot.joint_names == ("turn",) and robot.base == "world" and robot.mass == 2.0


def test_names_are_left_to_defaults_and_said(tmp_path):
    call = '<link name="w"/><xacro:arm parent="w"><origin/></xacro:arm>'
    with pytest.warns(ArmatureWarning) as caught:
        robot = load(
            write(tmp_path, '<xacro:property name="n" value="$(arg robot_name)"/>' + ARM + call)
        )
    assert robot.n == 1 and any(
        "'prefix' has no value and no default; '' is taken" in str(w.message) for w in caught
    )


def test_an_argument_is_known_before_its_declaration(tmp_path):
    path = tmp_path / "a.xacro"
    path.write_text(
        HEAD.replace('"r"', '"$(arg name)"')
        + '<xacro:arg name="name" default="late"/><link name="l"/></robot>'
    )
    assert load(path).name == "late"
    assert load(path, arguments={"name": "given"}).name == "given"


def kinds(tmp_path):
    """A package whose robot reads config/<kind>/size.yaml, as vendors' do."""
    for kind, size in (("small", 1.0), ("large", 3.0)):
        (tmp_path / "arm_description/config" / kind).mkdir(parents=True)
        (tmp_path / "arm_description/config" / kind / "size.yaml").write_text(f"mass: {size}\n")
    (tmp_path / "arm_description/config/notes.yaml").write_text("a: 1\n")
    (tmp_path / "arm_description/package.xml").write_text(
        "<package><name>arm_description</name></package>"
    )
    (tmp_path / "arm_description/urdf").mkdir()
    body = """<xacro:arg name="kind" default="none"/><xacro:arg name="params" default="$(find arm_description)/config/$(arg kind)/size.yaml"/>
      <xacro:property name="p" value="$(arg params)"/><link name="a"><inertial><mass value="${xacro.load_yaml(p)['mass']}"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
    return write(tmp_path / "arm_description/urdf", body)


def test_an_argument_that_leads_nowhere_is_told_with_the_choices(tmp_path):
    path = kinds(tmp_path)
    with pytest.raises(
        FileError,
        match=(
            r"main.xacro:\d+: there is no file .*the argument kind is 'none'.*one of large, small$"
        ),
    ):
        load(path)
    assert load(path, arguments={"kind": "large"}).mass == 3.0


def test_a_needed_argument_is_told_with_all_arguments(tmp_path):
    path = write(
        tmp_path,
        '<xacro:arg name="size"/><xacro:arg name="colour" default="red"/><link name="${$(arg'
        ' size)}"/>',
    )
    with pytest.raises(FileError, match=r"'size' has no value.*size \(needed\), colour \(red\)"):
        load(path)


def test_messages_name_the_file_and_line_of_an_included_part(tmp_path):
    (tmp_path / "part.xacro").write_text(
        f'{HEAD}\n<link name="a">\n<inertial><mass value="${{m}}"/></inertial></link></robot>'
    )
    path = write(
        tmp_path, '<xacro:property name="m" value="heavy"/><xacro:include filename="part.xacro"/>'
    )
    with pytest.raises(FileError, match="value='heavy' is not a number") as caught:
        load(path)
    assert caught.value.path == str(tmp_path / "part.xacro") and caught.value.line == 3
    (tmp_path / "part.xacro").write_text(f"{HEAD}\n\n<link name='${{1 +}}'/></robot>")
    with pytest.raises(FileError, match="not well formed") as caught:
        load(path)
    assert caught.value.path == str(tmp_path / "part.xacro") and caught.value.line == 3


@pytest.mark.parametrize(
    "layout",
    ["sibling", "folder above", "by its package.xml", "ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"],
)
def test_packages_are_found(tmp_path, monkeypatch, layout):
    place = {
        "sibling": "ws/other",
        "folder above": "ws/deep/other",
        "by its package.xml": "ws/unpacked-1.2",
        "ROS_PACKAGE_PATH": "a/b/c/d/far/repo/other",
        "AMENT_PREFIX_PATH": "a/b/c/d/far/share/other",
    }[layout]
    name = "other_" + layout.split()[0]
    place = place.replace("other", name)
    (tmp_path / place).mkdir(parents=True)
    (tmp_path / place / "package.xml").write_text(
        f'<?xml version="1.0"?><package>\n <name> {name} </name></package>'
    )
    start = tmp_path / "ws/mine/urdf"
    start.mkdir(parents=True)
    (tmp_path / "ws/mine/package.xml").write_text("<package><name>mine</name></package>")
    if layout.endswith("PATH"):
        assert find_package(name, [start]) is None
        monkeypatch.setenv(layout, f"/nowhere:{tmp_path / 'a/b/c/d/far'}")
    assert find_package(name, [start]) == tmp_path / place
    assert find_package("mine", [start]) == tmp_path / "ws/mine"
    assert find_package("../mine", [start]) is None


def test_a_missing_package_stops_only_what_reads_it(tmp_path):
    box = '<visual><geometry><mesh filename="$(find absent_package)/a.stl"/></geometry></visual>'
    with pytest.warns(ArmatureWarning, match="'absent_package' is not found"):
        robot = load(
            write(
                tmp_path,
                '<xacro:include filename="$(find absent_package)/b.xacro"/><link'
                f' name="a">{box}</link>',
            )
        )
    assert robot.link("a").visuals[0].file == "package://absent_package/a.stl"
    with (
        warnings.catch_warnings(),
        pytest.raises(
            FileError, match="'gripper' is not known; the package 'absent_package' is not found"
        ),
    ):
        warnings.simplefilter("ignore")
        load(
            write(
                tmp_path,
                '<xacro:include filename="$(find absent_package)/b.xacro"/><xacro:gripper/>',
            )
        )


def test_yaml_angles_are_in_radians(folder):
    path = write(folder, "<a v=\"${xacro.load_yaml('values.yaml')['angles']['a']}\"/>")
    assert float(expand(path)[0].get("v")) == pytest.approx(math.pi / 2)
