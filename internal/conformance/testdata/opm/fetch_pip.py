"""Fetches pip for a Python that comes without it: python fetch_pip.py VERSION FOLDER."""
import os
import re
import sys
import urllib.parse
import urllib.request

version, folder = sys.argv[1:]
index = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/") + "/pip/"
page = urllib.request.urlopen(index, timeout=60).read().decode()
name = "pip-%s-py3-none-any.whl" % version
links = [link for link in re.findall(r'href="([^"]+)"', page) if link.split("#")[0].endswith("/" + name)]
if not links:
    sys.exit("%s has no %s" % (index, name))
wheel = urllib.request.urlopen(urllib.parse.urljoin(index, links[0].split("#")[0]), timeout=120).read()
with open(os.path.join(folder, name), "wb") as file:
    file.write(wheel)
