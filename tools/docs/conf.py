# SPDX-License-Identifier: GPL-2.0-only
"""How `make docs` builds Documentation/gpu/vfence with Sphinx.

This file is not beside the pages, because a kernel tree takes the pages as they are and has a
configuration of its own. The pages use only features that this configuration has, too."""

import logging
import os
import pathlib
import re
import sys

from docutils import nodes

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, os.environ["VFENCE_KERNEL_SOURCE"] + "/Documentation/sphinx")

project = "vfence"
project_copyright = "2026 The vfence developers"
extensions = ["kerneldoc"]
master_doc = "index"
primary_domain = "c"
highlight_language = "none"
html_theme = "alabaster"
html_theme_options = {"page_width": "1100px", "fixed_sidebar": True}
html_copy_source = False

kerneldoc_bin = str(TOP / "tools/docs/kernel-doc")
kerneldoc_srctree = str(TOP)

# These names are those of a structure and of a function. C has a namespace for each, but
# Sphinx has one for both and warns of a second declaration.
STRUCTURE_AND_FUNCTION = ("vf_submit",)

RULE = re.compile(r"\b(?:WDDM|VF|TDR)-\d+\b")


def worth_a_warning(record):
    """Return False for a warning about a function that has the name of a structure."""
    said = re.search(r"Duplicate C declaration(?:.|\n)*c:function:: [^(]*?(\w+) \(", record.getMessage())
    return not said or said.group(1) not in STRUCTURE_AND_FUNCTION


def link_rules(app, doctree, docname):
    """Make each number of a rule a link to the rule, so that the pages need no markup for it."""
    for text in list(doctree.findall(nodes.Text)):
        if isinstance(text.parent, (nodes.literal, nodes.literal_block, nodes.reference, nodes.title)):
            continue
        string, parts, at = text.astext(), [], 0
        for match in RULE.finditer(string):
            to = "" if docname == "rules" else app.builder.get_relative_uri(docname, "rules")
            parts.append(nodes.Text(string[at:match.start()]))
            parts.append(nodes.reference("", match.group(), internal=True,
                                         refuri=f"{to}#{match.group().lower()}"))
            at = match.end()
        if parts:
            text.parent.replace(text, parts + [nodes.Text(string[at:])])


def setup(app):
    """Add the links when the pages are complete."""
    logging.getLogger("sphinx.sphinx.domains.c").addFilter(worth_a_warning)
    app.connect("doctree-resolved", link_rules)
