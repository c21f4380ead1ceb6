"""Runs inside the sandbox. Loads a configuration of Sphinx or MkDocs and prints its values as JSON after a mark."""
import json
import os
import sys

task = json.load(sys.stdin)
answer_fd = os.dup(1)
# What the configuration prints is of no use here.
os.dup2(2, 1)

SPHINX_KEYS = [
    "extensions",
    "source_suffix",
    "exclude_patterns",
    "html_extra_path",
    "myst_heading_anchors",
    "redirects",
    "rediraffe_redirects",
]
FILES_MAX = 100_000
file = os.path.join(task["work"], task["marker"])
folder = os.path.dirname(file)


def inside(path):
    """A path in the repository, relative to the configuration's folder."""
    return os.path.relpath(path, folder) if path.startswith(task["work"]) else path


def plain(value):
    if isinstance(value, (str, bool, int, float)) or value is None:
        return inside(value) if isinstance(value, str) else value
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(one) for one in value]
    return {"$unknown": True}


class Tags(set):
    """Sphinx gives its configuration the tags of the build."""

    def has(self, name):
        return name in self


def load_sphinx():
    values = {"__file__": file, "tags": Tags()}
    with open(file, "rb") as source:
        exec(compile(source.read(), file, "exec"), values)
    found = {key: plain(values[key]) for key in SPHINX_KEYS if key in values}
    return {**found, "hasSetup": callable(values.get("setup"))}


def load_mkdocs():
    from mkdocs.config import load_config
    from mkdocs.structure.files import get_files

    config = load_config(file)
    plugins = config["plugins"]
    plugins.run_event("startup", command="build", dirty=False)
    config = plugins.run_event("config", config)
    files = get_files(config)
    files.add_files_from_theme(config["theme"].get_env(), config)
    files = plugins.run_event("files", files, config=config)
    docs = config["docs_dir"]
    pages, made = [], []
    for one in list(files)[:FILES_MAX]:
        path = one.src_path.replace(os.sep, "/")
        if one.is_documentation_page():
            pages.append(path)
        if not os.path.exists(os.path.join(docs, path)):
            made.append(path)
    redirects = plugins.get("redirects") if hasattr(plugins, "get") else None
    return {
        "docs_dir": inside(docs),
        "site_url": config["site_url"],
        "use_directory_urls": config["use_directory_urls"],
        "pages": pages,
        "made": made,
        "redirects": plain(redirects.config["redirect_maps"]) if redirects else {},
    }


try:
    os.chdir(folder)
    answer = {"values": load_mkdocs() if task["framework"] == "mkdocs" else load_sphinx()}
except BaseException as error:  # a configuration may also exit
    answer = {"error": f"{type(error).__name__}: {error}".split("\n")[0]}
text = (task["mark"] + json.dumps(answer)).encode()
while text:
    text = text[os.write(answer_fd, text) :]
os._exit(0)
