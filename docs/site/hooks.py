"""Differences between GitHub's Markdown, in which the pages are written, and MkDocs': anchors, lists, tables, links out of docs/."""
import os
import re

FENCE = re.compile(r"( *)(```+)(.*)")
ITEM = re.compile(r"( *)([-*]|\d+\.)( +)")
LINK = re.compile(r"(?<!!)\[((?:`[^`]*`|[^\]`])*)\]\(([^)\s]+)\)")
CODE = re.compile(r"(`+)(.+?)\1")


def slug(text, _):
    """GitHub's anchor of a heading, as tests/project/links.py has it."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def on_config(config):
    config["mdx_configs"].setdefault("toc", {})["slugify"] = slug
    return config


def lists(text):
    """A list may follow a paragraph, and what belongs to an item is indented by 4."""
    out, offsets, fence, in_table = [], [], None, False
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip(" "))
        found = FENCE.fullmatch(line)
        if fence is not None:  # in a block of code
            if found and found[2] == fence[1] and not found[3]:
                out.append("```" if not offsets else "")
                fence = None
            else:
                out.append(line if not offsets else "    " * (len(offsets) + 1) + line[min(indent, fence[0]):])
            continue
        item = ITEM.match(line)
        if line.strip() == "":
            out.append("")
            continue
        after_blank = not out or out[-1] == ""
        if item or indent or after_blank:
            while offsets and indent < offsets[-1]:
                offsets.pop()
        if item and len(offsets) * 4 + len(line) > indent:
            nested = bool(offsets)
            if not after_blank and not nested and not ITEM.match(out[-1].lstrip()) and not out[-1].startswith("    "):
                out.append("")
            out.append("    " * len(offsets) + item[2] + " " + line[item.end():])
            offsets.append(item.end())
        elif found:
            fence = (indent, found[2])
            if not after_blank:
                out.append("")
            if not offsets:
                out.append(line)
        else:
            table = line.lstrip().startswith("|")
            if table and not after_blank and not in_table:
                out.append("")
            out.append("    " * len(offsets) + line[min(indent, offsets[-1]):] if offsets and indent else line)
        in_table = line.lstrip().startswith("|")
    return "\n".join(out)


def line_by_line(text, change):
    """Changes each line outside of blocks of code."""
    fenced, out = False, []
    for line in text.split("\n"):
        if line.startswith("```"):
            fenced = not fenced
        out.append(line if fenced or line.startswith("        ") else change(line))
    return "\n".join(out)


def on_page_markdown(markdown, page, config, files):
    folder = os.path.dirname(page.file.src_path)

    def link(match):
        target = match[2].partition("#")[0]
        if not target or re.match(r"[a-z]+:", target) or not os.path.normpath(os.path.join(folder, target)).startswith(".."):
            return match[0]
        path = os.path.normpath(os.path.join("docs", folder, target))
        return f"[{match[1]}]({config['repo_url']}/blob/main/{path})" if config["repo_url"] else match[1]

    def change(line):
        if line.lstrip().startswith("|"):  # GitHub: \| in code of a table is |
            line = CODE.sub(lambda m: m[0].replace(r"\|", "|"), line)
        return LINK.sub(link, line)

    return line_by_line(lists(markdown), change)
