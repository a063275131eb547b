"""Presentations are written as they were asked for, and open in an office program."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import weakref
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image, ImageChops, ImageDraw
from pptx import Presentation
from toolwire_bundled.ppt import PPT
from toolwire_client import connect
from toolwire_compat.lagent import ActionStatusCode
from toolwire_tools import ToolError

if TYPE_CHECKING:
    from pathlib import Path

BLUE, ORANGE = (20, 60, 220), (240, 130, 20)
LAUGHING = b"""<!DOCTYPE x [<!ENTITY a "ha">%s]><x>&l;</x>""" % b"".join(
    b'<!ENTITY %c "%s">' % (letter + 1, b"&%c;" % letter * 10) for letter in b"abcdefghijk"
)
"""XML that is a hundred gigabytes when its entities are replaced."""


@pytest.fixture
def picture(tmp_path: Path) -> str:
    image = Image.new("RGB", (640, 400), BLUE)
    ImageDraw.Draw(image).ellipse((170, 50, 470, 350), fill=ORANGE)
    image.save(tmp_path / "picture.png")
    return str(tmp_path / "picture.png")


def call_for_text(action: PPT, name: str, **arguments: Any) -> str:
    answer = action(arguments, name)
    assert answer.state == ActionStatusCode.SUCCESS, answer.errmsg
    return str(answer.args and answer.result[0]["content"])


def call_for_error(action: PPT, name: str, **arguments: Any) -> str:
    answer = action(arguments, name)
    assert answer.state != ActionStatusCode.SUCCESS
    return str(answer.errmsg)


def begun(where: Path, theme: str = "Default", **settings: Any) -> PPT:
    action = PPT(**settings)
    call_for_text(action, "create_file", theme=theme, abs_location=str(where / "bees.pptx"))
    return action


def texts(path: Path) -> list[list[str]]:
    return [
        [shape.text_frame.text for shape in slide.placeholders]
        for slide in Presentation(str(path)).slides
    ]


def needed(program: str, package: str) -> str:
    found = shutil.which(program)
    if found is None:
        if os.environ.get("TOOLWIRE_REQUIRE_PEERS") == "1":
            pytest.fail(f"{program} is needed: apt-get install {package}")
        pytest.skip(f"without {program}: apt-get install {package}")
    return found


@pytest.mark.process
def test_what_a_host_asks_for_opens_in_an_office_program(tmp_path: Path, picture: str) -> None:
    office, painter = needed("soffice", "libreoffice-impress"), needed("pdftoppm", "poppler-utils")
    file = tmp_path / "bees.pptx"
    with connect([sys.executable, "-m", "toolwire", "serve", "PPT"]) as host:

        def done(name: str, **arguments: Any) -> Any:
            result = host.call_tool(f"PPT.{name}", arguments)
            assert not result.is_error, result.text
            return result.structured

        assert done("create_file", theme="Dark", abs_location=str(file)) == {
            "status": "created a ppt file."
        }
        assert done("add_first_page", title="Bees", subtitle="A survey") == {"status": "added page"}
        done("add_text_page", title="What they do", bullet_items="They dance [SPAN] They hum")
        done(
            "add_text_image_page",
            title="How they look",
            bullet_items="Small[SPAN]Round",
            image=picture,
        )
        assert done("submit_file") == {"status": f"submitted. view ppt at {file}"}

    profile = f"-env:UserInstallation=file://{tmp_path}/office"
    arguments = [
        office,
        profile,
        "--headless",
        "--convert-to",
        "pdf",
        "--outdir",
        str(tmp_path),
        str(file),
    ]
    subprocess.run(arguments, check=True, timeout=120, capture_output=True)
    subprocess.run(
        [painter, "-r", "48", str(tmp_path / "bees.pdf"), str(tmp_path / "page")],
        check=True,
        timeout=60,
    )
    first, second, third = (
        Image.open(page).convert("RGB") for page in sorted(tmp_path.glob("page*.ppm"))
    )

    assert first.width / first.height == pytest.approx(16 / 9, rel=0.01)
    paper = first.getpixel((600, 20))
    assert sum(paper) < 150  # dark, as the theme has it
    for page in (first, second):
        blank = Image.new("RGB", page.size, paper)
        # There are letters, beginning well within the page and ending there.
        left, top, right, bottom = (
            ImageChops.difference(page, blank).crop((10, 0, 630, 350)).getbbox()
        )
        assert 10 < left < right < 600
        assert 10 < top < bottom < 350
    # The picture is whole, as wide as its place, and in proportion.
    shown = [
        (x, y)
        for x in range(third.width)
        for y in range(third.height)
        if near(third.getpixel((x, y)), BLUE)
    ]
    width = max(x for x, _ in shown) - min(x for x, _ in shown)
    height = max(y for _, y in shown) - min(y for _, y in shown)
    assert 250 < width < 320
    assert abs(height / width - 400 / 640) < 0.02
    middle = (min(x for x, _ in shown) + width // 2, min(y for _, y in shown) + height // 2)
    assert near(third.getpixel(middle), ORANGE)


def near(found: Any, wanted: tuple[int, int, int]) -> bool:
    return all(abs(a - b) < 24 for a, b in zip(found, wanted, strict=True))


@pytest.mark.parametrize("theme", ["Default", "Dark", "Warm", "Green"])
def test_each_theme_takes_every_kind_of_page(tmp_path: Path, picture: str, theme: str) -> None:
    action = begun(tmp_path, theme)
    action.add_first_page("Bees", "")
    action.add_text_page("List", "one[SPAN] two [SPAN]three")
    action.add_text_image_page("Look", "here", picture)
    action.submit_file()

    # What is empty is not there: nobody is asked to "Click to add text".
    assert texts(tmp_path / "bees.pptx") == [
        ["Bees"],
        ["List", "one\ntwo\nthree"],
        ["Look", "here"],
    ]


def test_pages_can_be_added_after_a_submission_and_submitted_again(tmp_path: Path) -> None:
    action = begun(tmp_path)
    action.add_first_page("Bees", "survey")
    action.submit_file()
    os.chmod(tmp_path / "bees.pptx", 0o640)
    action.add_text_page("More", "one")
    action.submit_file()

    assert len(texts(tmp_path / "bees.pptx")) == 2
    assert os.stat(tmp_path / "bees.pptx").st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["bees.pptx"]


def test_a_theme_of_ones_own_has_its_own_layouts(tmp_path: Path) -> None:
    Presentation().save(str(tmp_path / "corporate.pptx"))
    theme = {
        "template": str(tmp_path / "corporate.pptx"),
        "title": "Section Header",
        "single": "Title and Content",
    }
    action = begun(tmp_path, "Corporate", theme_mapping={"Corporate": theme})
    action.add_first_page("Bees", "survey")
    action.submit_file()

    [slide] = Presentation(str(tmp_path / "bees.pptx")).slides
    assert slide.slide_layout.name == "Section Header"


def test_a_template_is_that_of_where_the_tool_was_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Presentation().save(str(tmp_path / "corporate.pptx"))
    monkeypatch.chdir(tmp_path)
    action = PPT(theme_mapping={"Corporate": {"template": "corporate.pptx"}})
    monkeypatch.chdir("/")
    call_for_text(
        action, "create_file", theme="Corporate", abs_location=str(tmp_path / "bees.pptx")
    )


def test_a_template_that_is_not_there_is_reported_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ToolError, match=f"'Mine': there is no template {tmp_path}/none.pptx"):
        PPT(theme_mapping={"Mine": {"template": "none.pptx"}})


def test_a_presentation_that_is_given_up_takes_no_more_memory(tmp_path: Path) -> None:
    action = begun(tmp_path)
    assert action._deck is not None
    package = weakref.ref(action._deck._presentation.part.package)

    call_for_text(action, "create_file", theme="Default", abs_location=str(tmp_path / "bees.pptx"))

    assert package() is None


def test_a_layout_that_the_template_has_not_is_named_with_those_it_has(tmp_path: Path) -> None:
    action = begun(tmp_path, "Mine", theme_mapping={"Mine": {"title": "Tow content"}})

    error = call_for_error(action, "add_first_page", title="Bees", subtitle="")

    assert "no layout 'Tow content'" in error
    assert "Two Content" in error


@pytest.mark.parametrize(
    ("part", "content"),
    [
        ("ppt/presentation.xml", b"<no-xml"),
        ("ppt/presentation.xml", b"<other/>"),
        ("ppt/slideMasters/slideMaster1.xml", b"<other/>"),
        ("[Content_Types].xml", b"<other/>"),
        ("ppt/theme/theme1.xml", bytes(201 * 1024**2)),
        ("ppt/presentation.xml", LAUGHING),
    ],
)
def test_a_hostile_template_is_refused_by_the_name_of_its_theme(
    tmp_path: Path, part: str, content: bytes
) -> None:
    plain, hostile = tmp_path / "plain.pptx", tmp_path / "hostile.pptx"
    Presentation().save(str(plain))
    with (
        zipfile.ZipFile(plain) as source,
        zipfile.ZipFile(hostile, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target,
    ):
        for name in source.namelist():
            target.writestr(name, content if name == part else source.read(name))
    action = PPT(theme_mapping={"Odd": {"template": str(hostile)}})

    told = call_for_error(
        action, "create_file", theme="Odd", abs_location=str(tmp_path / "bees.pptx")
    )

    assert f"the template {hostile} of the theme 'Odd' cannot be read" in told


def test_a_folder_that_is_not_there_is_reported_at_once(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="folder: there is no folder"):
        PPT(folder=tmp_path / "none")


def test_without_a_beginning_there_is_nothing_to_add_to() -> None:
    for name, arguments in (
        ("add_first_page", {"title": "a", "subtitle": "b"}),
        ("add_text_page", {"title": "a", "bullet_items": "b"}),
        ("submit_file", {}),
    ):
        assert "call create_file first" in call_for_error(PPT(), name, **arguments)


def test_an_unknown_theme_is_answered_with_the_closest(tmp_path: Path) -> None:
    error = call_for_error(
        PPT(), "create_file", theme="dark", abs_location=str(tmp_path / "a.pptx")
    )

    assert "did you mean 'Dark'?" in error


@pytest.mark.parametrize(
    "location", ["bees.pptx", "/tmp/bees.txt", "/no/such/folder/bees.pptx", "/tmp/a\0.pptx"]
)
def test_a_place_where_no_presentation_can_be_is_refused_at_once(location: str) -> None:
    assert "arguments.abs_location" in call_for_error(
        PPT(), "create_file", theme="Default", abs_location=location
    )


@pytest.mark.parametrize("outside", ["../bees.pptx", "link/bees.pptx", "{outside}/bees.pptx"])
def test_nothing_outside_of_the_folder_is_written(tmp_path: Path, outside: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    action = PPT(folder=str(folder))

    location = outside.format(outside=tmp_path)
    assert "not within the folder" in call_for_error(
        action, "create_file", theme="Default", abs_location=location
    )
    call_for_text(action, "create_file", theme="Default", abs_location="bees.pptx")
    call_for_text(action, "submit_file")
    assert (folder / "bees.pptx").exists()


@pytest.mark.parametrize("confined", [True, False])
def test_a_link_that_is_made_after_create_file_is_never_written_through(
    tmp_path: Path, confined: bool
) -> None:
    folder, victim = tmp_path / "folder", tmp_path / "victim"
    (folder / "inner").mkdir(parents=True)
    victim.mkdir()
    action = begun(folder / "inner", **({"folder": str(folder)} if confined else {}))

    (folder / "inner").rename(folder / "moved")
    (folder / "inner").symlink_to(victim)
    told = call_for_error(action, "submit_file")

    assert "bees.pptx" in told
    assert os.listdir(victim) == os.listdir(folder / "moved") == []
    (folder / "inner").unlink()
    (folder / "moved").rename(folder / "inner")
    (victim / "other.pptx").write_text("as it was")
    (folder / "inner" / "bees.pptx").symlink_to(victim / "other.pptx")
    assert "cannot be written" in call_for_error(action, "submit_file")
    assert (victim / "other.pptx").read_text() == "as it was"


def test_a_picture_is_not_read_through_a_link_that_appears_between_check_and_use(
    tmp_path: Path, picture: str
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    action = begun(folder, folder=str(folder))
    shutil.copy(picture, folder / "own.png")
    path = action._check_path("own.png", "image")

    (folder / "own.png").unlink()
    (folder / "own.png").symlink_to(picture)

    with pytest.raises(ToolError):
        action._read_image(path)


def test_no_picture_outside_of_the_folder_is_read(tmp_path: Path, picture: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    action = begun(folder, folder=str(folder))

    for path in (picture, "../picture.png"):
        error = call_for_error(
            action, "add_text_image_page", title="a", bullet_items="b", image=path
        )
        assert "not within the folder" in error


def test_a_photo_of_a_phone_with_more_pictures_behind_it_is_shown(tmp_path: Path) -> None:
    photo = tmp_path / "photo.jpg"
    Image.new("RGB", (40, 30), BLUE).save(
        photo, "MPO", save_all=True, append_images=[Image.new("RGB", (4, 3))]
    )
    action = begun(tmp_path)

    call_for_text(action, "add_text_image_page", title="Bees", bullet_items="one", image=str(photo))
    call_for_text(action, "submit_file")

    [slide] = Presentation(str(tmp_path / "bees.pptx")).slides
    [shown] = [shape.image for shape in slide.shapes if hasattr(shape, "image")]
    assert (shown.content_type, shown.size) == ("image/jpeg", (40, 30))


def test_what_is_no_picture_is_refused_and_adds_no_page(tmp_path: Path) -> None:
    (tmp_path / "text.png").write_text("no picture")
    (tmp_path / "vector.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    Image.new("RGB", (4, 4)).save(tmp_path / "new.webp")
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "cut.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    action = begun(tmp_path)

    for name in ("text.png", "vector.svg", "new.webp", "folder.png", "cut.png", "none.png"):
        path = str(tmp_path / name)
        assert path in call_for_error(
            action, "add_text_image_page", title="a", bullet_items="b", image=path
        )
    action.submit_file()
    assert texts(tmp_path / "bees.pptx") == []


def test_a_picture_that_takes_gigabytes_when_unpacked_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "bomb.png"
    Image.new("L", (1, 1)).save(file)
    data = bytearray(file.read_bytes())
    data[16:24] = (60_000).to_bytes(4, "big") * 2  # the width and height that its header says
    data[29:33] = zlib.crc32(data[12:29]).to_bytes(4, "big")
    file.write_bytes(data)

    error = call_for_error(
        begun(tmp_path), "add_text_image_page", title="a", bullet_items="b", image=str(file)
    )
    assert "bomb.png cannot be read" in error


def test_a_place_that_cannot_be_written_loses_nothing(tmp_path: Path) -> None:
    (tmp_path / "bees.pptx").mkdir()
    action = begun(tmp_path)
    action.add_first_page("Bees", "")

    assert "cannot be written" in call_for_error(action, "submit_file")
    (tmp_path / "bees.pptx").rmdir()
    call_for_text(action, "submit_file")
    assert texts(tmp_path / "bees.pptx") == [["Bees"]]
    assert os.listdir(tmp_path) == ["bees.pptx"]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("\x00\x07", "_x0000__x0007_"),  # as Office Open XML spells what XML cannot
        ("a\nb", "a\vb"),  # one item of two lines
        *[(text, text) for text in ("𝄞 蜜蜂", "\u202e", "<a:p>&amp;", "=1+1", "x" * 20_000)],
    ],
)
def test_any_text_can_be_written_and_read_again(tmp_path: Path, text: str, read: str) -> None:
    action = begun(tmp_path)
    action.add_text_page("title", text)
    action.submit_file()

    assert texts(tmp_path / "bees.pptx") == [["title", read]]


def test_pages_added_by_many_threads_are_all_there(tmp_path: Path) -> None:
    action = begun(tmp_path)
    threads = [
        threading.Thread(target=action.add_text_page, args=(str(n), "text")) for n in range(24)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    action.submit_file()

    assert {title for title, _ in texts(tmp_path / "bees.pptx")} == {str(n) for n in range(24)}
