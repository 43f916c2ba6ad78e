"""The driver of Python sessions of run_code.

It runs in the sandbox, in the same process as the code that it runs. So nothing here keeps that code from
anything: the sandbox does. What it does is to stay usable whatever a cell does to its own process, or to end.

Commands come in on 3, frames go out on 4, and what code prints goes to 1 and 2, which are one pipe.
"""
import ast
import builtins
import io
import json
import os
import queue
import signal
import sys
import threading
import types

COMMANDS, FRAMES, KEPT = 3, 4, 9
WORK = os.path.join(os.environ.get("TMPDIR", "/tmp"), "work")
MOST_TEXT, MOST_ROWS, MOST_IMAGES, MOST_FILES, MOST_SIDE = 64 << 10, 200, 8, 200, 2000


class Driver:
    def __init__(self):
        self.pid = os.getpid()
        self.lock = threading.Lock()
        self.queue = queue.SimpleQueue()
        self.cell = 0  # that runs now; 0: none
        self.count = 0
        self.images = 0
        self.nonce = b""
        self.loop = None
        self.main = types.ModuleType("__main__")
        self.main.__builtins__ = builtins
        self.main.display = self.display
        sys.modules["__main__"] = self.main
        self.allowed = None

    # Frames.

    def send(self, kind, cell, data=b"", name=b""):
        if os.getpid() != self.pid:
            return  # a copy of this process, made by the code
        if isinstance(data, str):
            data = data.encode("utf-8", "replace")
        frame = b"%s %d %d\n" % (kind, cell, len(data)) + data
        with self.lock:
            view = memoryview(frame)
            while view:
                try:
                    n = os.write(FRAMES, view)
                except BlockingIOError:
                    continue
                except OSError:
                    os._exit(71)  # the code has closed it: nobody can be told anything any more
                view = view[n:]

    # Commands, read by a thread of their own: one of them interrupts.

    def read(self):
        try:
            with os.fdopen(COMMANDS, "rb", 1 << 16, closefd=False) as f:
                while True:
                    words = f.readline(4096).split()
                    if not words:
                        os._exit(0)
                    op, args = words[0], words[1:]
                    if op == b"interrupt":
                        if int(args[0]) == self.cell:
                            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
                        continue
                    data = f.read(int(args[-1])) if op in (b"put", b"run", b"hello") else b""
                    self.queue.put((op, args, data))
        except BaseException:
            os._exit(71)

    def serve(self):
        while True:
            try:
                op, args, data = self.queue.get()
                if op == b"hello":
                    self.hello(json.loads(data))
                elif op == b"put":
                    self.put(unhex(args[0]), data)
                elif op == b"get":
                    self.get(int(args[0]), unhex(args[1]), int(args[2]))
                elif op == b"run":
                    self.run(int(args[0]), data.decode("utf-8"))
            except KeyboardInterrupt:
                pass  # it came too late for its cell

    def hello(self, d):
        self.nonce = d["nonce"].encode()
        if d.get("packages"):
            self.allowed = {p.replace("-", "_").lower() for p in d["packages"]}
            sys.meta_path.insert(0, self)
        os.makedirs(WORK, exist_ok=True)
        os.chdir(WORK)
        sys.path.insert(0, WORK)
        self.send(b"ready", 0, json.dumps({"version": "%d.%d.%d" % sys.version_info[:3]}))

    def find_spec(self, name, path=None, target=None):
        """Refuses what cells import of packages that the person has not listed."""
        top = name.partition(".")[0]
        if path is not None or standard(top) or top.lower() in self.allowed or os.path.exists(os.path.join(WORK, top)) or os.path.exists(os.path.join(WORK, top + ".py")):
            return None
        frame = sys._getframe(1)
        while frame and ("importlib" in frame.f_code.co_filename):
            frame = frame.f_back
        if frame and frame.f_code.co_filename.startswith("<cell "):
            raise ModuleNotFoundError("the package %r is not allowed here: toolboxes.code.packages does not list it" % top, name=name)
        return None

    def put(self, name, data):
        path = os.path.join(WORK, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.lexists(path):
            os.remove(path)
        with open(path, "wb") as f:
            f.write(data)

    def get(self, cell, name, most):
        try:
            path = os.path.join(WORK, name)
            if not os.path.isfile(path):
                raise FileNotFoundError("there is no such file")
            with open(path, "rb") as f:
                data = f.read(most + 1)
            if len(data) > most:
                raise ValueError("it has more than %d bytes" % most)
            self.send(b"file", cell, data)
        except Exception as e:
            self.send(b"nofile", cell, str(e))

    # Cells.

    def run(self, cell, code):
        self.restore()
        before = self.listed()
        self.count += 1
        self.images = 0
        status = "ok"
        self.cell = cell
        try:
            try:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                self.execute(code, "<cell %d>" % self.count)
                self.figures()
            finally:
                self.cell = 0
        except KeyboardInterrupt:
            status = "interrupted"
        except SystemExit as e:
            if e.code not in (None, 0):
                status = "error"
                self.send(b"error", cell, "SystemExit: %s" % clip(str(e.code), 1000))
        except BaseException as e:
            status = "error"
            self.send(b"error", cell, self.trace(e))
        if os.getpid() != self.pid:
            os._exit(0)  # the cell has forked, and this is the copy
        try:
            signal.signal(signal.SIGINT, lambda *_: None)
            self.restore()
            files = [{"name": n, "size": s[1]} for n, s in self.listed().items() if before.get(n) != s]
            self.send(b"files", cell, json.dumps(files[:MOST_FILES]))
            self.flush()
        except KeyboardInterrupt:
            pass
        self.send(b"done", cell, json.dumps({"status": status}))

    def execute(self, code, name):
        import linecache
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
        scope = self.main.__dict__
        tree = ast.parse(code, name)if "await" not in code else compile(code, name, "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr) and not code.rstrip().endswith(";"):
            last = ast.Expression(tree.body.pop().value)
        if tree.body:
            self.evaluate(tree, name, "exec", scope)
        if last is not None:
            value = self.evaluate(last, name, "eval", scope)
            if value is not None:
                scope["_"] = value
                self.display(value)

    def evaluate(self, tree, name, mode, scope):
        code = compile(tree, name, mode, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        value = eval(code, scope)
        if code.co_flags & 0x80:  # a coroutine: it awaits something
            import asyncio
            if self.loop is None or self.loop.is_closed():
                self.loop = asyncio.new_event_loop()
                asyncio.set_event_loop(self.loop)
            task = self.loop.create_task(value)
            try:
                return self.loop.run_until_complete(task)
            except KeyboardInterrupt:
                task.cancel()
                raise
        return value

    def trace(self, e):
        import traceback
        try:
            tb = e.__traceback__
            while tb and not tb.tb_frame.f_code.co_filename.startswith("<cell "):
                tb = tb.tb_next
            return clip("".join(traceback.format_exception(type(e), e, tb)), 16 << 10, end=True)
        except BaseException:
            return type(e).__name__

    def restore(self):
        """Mends what a cell may have done to its streams."""
        kept = os.fstat(KEPT)
        for fd, name in ((1, "stdout"), (2, "stderr")):
            try:
                now = os.fstat(fd)
                if (now.st_dev, now.st_ino) != (kept.st_dev, kept.st_ino):
                    raise OSError
            except OSError:
                os.dup2(KEPT, fd)
            stream = getattr(sys, "__%s__" % name)
            if stream is None or stream.closed:
                stream = io.TextIOWrapper(io.FileIO(fd, "w", closefd=False), "utf-8", "backslashreplace", write_through=True)
                setattr(sys, "__%s__" % name, stream)
            setattr(sys, name, stream)
        try:
            os.getcwd()
        except OSError:
            os.makedirs(WORK, exist_ok=True)
            os.chdir(WORK)

    def flush(self):
        for stream in (sys.__stdout__, sys.__stderr__):
            try:
                stream.flush()
            except Exception:
                pass
        try:
            os.write(KEPT, self.nonce)
        except OSError:
            pass

    def listed(self):
        found, todo = {}, [""]
        while todo and len(found) < 2000:
            top = todo.pop()
            try:
                with os.scandir(os.path.join(WORK, top)) as entries:
                    for e in entries:
                        name = os.path.join(top, e.name)
                        if e.is_dir(follow_symlinks=False):
                            if e.name not in ("__pycache__",) and name.count("/") < 16:
                                todo.append(name)
                        elif e.is_file(follow_symlinks=False) and printable(name):
                            s = e.stat(follow_symlinks=False)
                            found[name] = (s.st_mtime_ns, s.st_size, s.st_ino)
                        if len(found) >= 2000:
                            break
            except OSError:
                pass
        return found

    # What is shown.

    def figures(self):
        plt = sys.modules.get("matplotlib.pyplot")
        if plt is None:
            return
        for number in plt.get_fignums():
            figure = plt.figure(number)
            self.figure(figure)
            plt.close(figure)

    def figure(self, figure):
        width, height = figure.get_size_inches()
        dpi = min(figure.dpi, MOST_SIDE / max(width, height, 0.01))
        data = io.BytesIO()
        figure.savefig(data, format="png", dpi=dpi)
        self.image(data.getvalue())

    def image(self, data):
        self.images += 1
        if self.images <= MOST_IMAGES:
            self.send(b"png", self.cell, data)
        else:
            self.send(b"left", self.cell, "images")

    def display(self, *values):
        for value in values:
            self.show(value)

    def show(self, value):
        pandas, figure = sys.modules.get("pandas"), sys.modules.get("matplotlib.figure")
        cell = self.cell
        if pandas is not None and isinstance(value, (pandas.DataFrame, pandas.Series)):
            return self.table(value, cell)
        if figure is not None and isinstance(value, figure.Figure):
            plt = sys.modules.get("matplotlib.pyplot")
            if plt is None or getattr(value, "number", None) not in plt.get_fignums():
                self.figure(value)
            return None
        png = getattr(type(value), "_repr_png_", None)
        if png is not None:
            data = png(value)
            if isinstance(data, bytes):
                return self.image(data)
        if isinstance(value, (dict, list, tuple, bool, int, float, str)):
            try:
                text = json.dumps(value, allow_nan=False, ensure_ascii=False)
                if len(text) <= MOST_TEXT:
                    self.send(b"json", cell, text)
            except Exception:
                pass
        self.send(b"text", cell, clip(self.represent(value), MOST_TEXT))

    @staticmethod
    def represent(value):
        if isinstance(value, (dict, list, tuple, set)) and len(value) > 5:
            import pprint
            return pprint.pformat(value, width=120, compact=True, sort_dicts=False)
        return repr(value)

    def table(self, value, cell):
        import pandas
        text = value.to_string(max_rows=60) if isinstance(value, pandas.Series) else value.to_string(max_rows=60, max_cols=40, show_dimensions="truncate")
        if isinstance(value, pandas.Series):
            value = value.to_frame(name=value.name if value.name is not None else "value")
        head = value.iloc[:MOST_ROWS, :100]
        try:
            split = json.loads(head.to_json(orient="split", date_format="iso", default_handler=str))
            plain = isinstance(head.index, pandas.RangeIndex) and head.index.start == 0 and head.index.step == 1
            table = {"columns": [str(c) for c in split["columns"]], "rows": split["data"], "total_rows": len(value), "total_columns": value.shape[1]}
            if not plain:
                table["index"] = split["index"]
            while table["rows"] and len(json.dumps(table)) > MOST_TEXT:
                half = len(table["rows"]) // 2
                table["rows"] = table["rows"][:half]
                if "index" in table:
                    table["index"] = table["index"][:half]
            self.send(b"table", cell, json.dumps(table, allow_nan=False, ensure_ascii=False))
        except Exception:
            pass
        self.send(b"text", cell, clip(text, MOST_TEXT))


def standard(top):
    names = getattr(sys, "stdlib_module_names", None)
    if names is not None:
        return top in names
    # Before Python 3.10 nothing lists them: they lie beside this one.
    import importlib.machinery
    spec = importlib.machinery.PathFinder.find_spec(top)
    where = (spec.origin if spec else None) or ""
    return top in sys.builtin_module_names or where.startswith(os.path.dirname(os.__file__) + os.sep) and "-packages" + os.sep not in where


def unhex(word):
    return bytes.fromhex(word.decode()).decode("utf-8")


def printable(name):
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return len(name) <= 255 and name.isprintable()


def clip(text, most, end=False):
    if len(text) <= most:
        return text
    left = "\n[%d characters are left out]\n" % (len(text) - most)
    if end:
        return text[:most // 2] + left + text[-(most // 2):]
    return text[:most] + left


def begin():
    os.dup2(1, KEPT, inheritable=False)
    for fd in (COMMANDS, FRAMES):
        os.set_inheritable(fd, False)
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
    sys.stderr.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
    import warnings
    warnings.filterwarnings("ignore", message=".*non-interactive.*")
    signal.signal(signal.SIGINT, lambda *_: None)
    driver = Driver()
    builtins.display = driver.display
    threading.Thread(target=driver.read, daemon=True).start()
    driver.serve()


begin()
