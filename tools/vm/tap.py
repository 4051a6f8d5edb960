#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Make one test file of KTAP, as prove(1) and other readers of TAP accept it.

tap.py <OUTPUT >FILE: OUTPUT may have several plans, each with tests that begin at 1, and tests in any
order; FILE has the version in its first line, then one plan, then all tests, numbered.
"""

import re
import sys


def tidy(lines):
    """Return the lines of the test file. A plan that was not fulfilled stays so."""
    planned, told, body = 0, 0, []
    for line in lines:
        if match := re.match(r"1\.\.(\d+)", line):
            planned += int(match.group(1))
        elif match := re.match(r"((?:not )?ok )\d+\b(.*)", line):
            told += 1
            body.append(f"{match.group(1)}{told}{match.group(2)}")
        elif not re.match(r"K?TAP version \d", line):
            body.append(line)
    return ["TAP version 13", f"1..{planned}", *body]


if __name__ == "__main__":
    print("\n".join(tidy(sys.stdin.read().splitlines())))
