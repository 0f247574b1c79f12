"""What mkdocs needs so that the site is made of the repository's files as they are.

- A file outside docs/ that a page links to is on the site too, under repository/; so are those
  that it links to in turn. Nothing is copied into docs/.
- Headings have the anchors that GitHub gives them, as links in the pages are written for those.
- A list may follow a line without an empty line between, as GitHub reads it.
- Diagrams are drawn in the page, where scripts/site has fetched what draws them.

Cost: each page's text is read once more, for its links.
"""

import pathlib
import posixpath
import re

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[2]
ELSEWHERE = "repository/"
MERMAID = ROOT / "build/site-venv/mermaid.min.js"
# Loads the program, which is large, on pages with a diagram alone. Dark where the page is.
DRAW = """const diagrams = document.querySelectorAll("code.language-mermaid");
if (diagrams.length) {
  const here = document.currentScript.src;
  const script = document.createElement("script");
  script.src = new URL("mermaid.min.js", here);
  script.onload = () => {
    for (const code of diagrams) {
      const drawn = document.createElement("div");
      drawn.className = "mermaid";
      drawn.textContent = code.textContent;
      code.parentElement.replaceWith(drawn);
    }
    const isDark = document.documentElement.dataset.bsTheme === "dark";
    mermaid.initialize({startOnLoad: false, theme: isDark ? "dark" : "default"});
    mermaid.run();
  };
  document.head.append(script);
}
"""
LINK = re.compile(r"\]\(([^)#\s]+)((?:#[^)\s]*)?)\)")
ITEM = re.compile(r"(?:[-*]|\d+\.) ")
FENCE = re.compile(r" *(```|~~~)")


def place(path: str) -> str:
    """Where a file of the repository lies among the site's sources."""
    return path.removeprefix("docs/") if path.startswith("docs/") else ELSEWHERE + path


def origin(place_of_page: str) -> str:
    """The file of the repository that a source of the site is."""
    return (place_of_page.removeprefix(ELSEWHERE) if place_of_page.startswith(ELSEWHERE)
            else "docs/" + place_of_page)


def target(page: str, link: str):
    """The file of the repository that a link in `page` leads to, or None."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), link))
    if (ROOT / path).is_dir():
        path = posixpath.join(path, "README.md")
    return path if not path.startswith("..") and (ROOT / path).is_file() else None


def linked(page: str) -> list:
    """The files of this repository that a page links to."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [path for link, _ in LINK.findall(text) if (path := target(page, link))]


def on_files(files, config):
    """Adds the files outside docs/ that pages lead to."""
    known = {origin(file.src_uri) for file in files}
    waiting = [path for path in sorted(known) if path.endswith(".md")]
    while waiting:
        for path in linked(waiting.pop()):
            if path in known:
                continue
            known.add(path)
            files.append(File.generated(config, place(path), abs_src_path=str(ROOT / path)))
            if path.endswith(".md"):
                waiting.append(path)
    if MERMAID.is_file():
        files.append(File.generated(config, "diagrams/mermaid.min.js", abs_src_path=str(MERMAID)))
        files.append(File.generated(config, "diagrams/draw.js", content=DRAW))
    return files


def on_config(config):
    """Headings get GitHub's anchors, as the pages' links expect them."""
    config.mdx_configs.setdefault("toc", {})["slugify"] = slug
    if MERMAID.is_file():
        config.extra_javascript.append("diagrams/draw.js")
    return config


def slug(heading: str, separator: str) -> str:
    """GitHub's anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", separator)


def relinked(markdown: str, page: str) -> str:
    """The page with its links to files as the site has them."""
    def replace(link):
        path = target(page, link[1])
        if not path:
            return link[0]
        return f"]({posixpath.relpath(place(path), posixpath.dirname(place(page)))}{link[2]})"
    return LINK.sub(replace, markdown)


def respaced(markdown: str) -> str:
    """An empty line before each list, without which Python-Markdown reads on in the paragraph."""
    lines, fenced, listed = [], False, False
    for line in markdown.split("\n"):
        if FENCE.match(line):
            fenced = not fenced
        item = not fenced and ITEM.match(line)
        if item and not listed and lines and lines[-1].strip():
            lines.append("")
        listed = bool(item or (listed and line.startswith("  ")))
        lines.append(line)
    return "\n".join(lines)


def on_page_markdown(markdown, page, config, files):
    """Called by mkdocs with each page's text; what it gives is what is rendered."""
    del config, files
    return respaced(relinked(markdown, origin(page.file.src_uri)))
