#!/usr/bin/env python3
# Tenter starts this file in the project's folder, in two ways:
#   FILE hook    it prints the name of the event that it wants to be told of
#   FILE run     it reads a payload on stdin, one line of JSON, and prints its answer: one JSON object, or nothing
# An exit code other than 0, or other text on stdout, is a failure of the hook: the agent warns and goes on, unless the
# configuration says `fail = "closed"`. stderr goes to the journal: `tenter log`.
#
# Try it with `tenter hooks test NAME`, on a payload of your own with `--payload FILE`.
import sys

# Python looks for modules beside this file first. Trust is in this file alone, so it takes none from there.
del sys.path[0]

import json
import re
