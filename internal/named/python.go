package named

import "strings"

// Imported lists modules that about every Python program imports: those of the
// standard library, but for a few that programs seldom use and projects have
// files for (code, cmd, profile, site, test, trace), and those that MCP servers
// are made with.
func Imported() []string {
	return strings.Fields(`
		abc aifc argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath
		codecs codeop collections colorsys compileall concurrent configparser contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses datetime
		dbm decimal difflib dis distutils doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch fractions ftplib functools
		gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http imaplib imghdr imp importlib inspect io ipaddress itertools
		json keyword linecache locale logging lzma mailbox mailcap marshal math mimetypes mmap modulefinder msvcrt multiprocessing netrc nis nntplib ntpath
		nturl2path numbers opcode operator optparse os ossaudiodev pathlib pdb pickle pickletools pipes pkgutil platform plistlib poplib posix posixpath
		pprint pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri random re readline reprlib resource rlcompleter runpy sched secrets
		select selectors shelve shlex shutil signal smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat
		statistics string stringprep struct subprocess sunau symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios textwrap threading time
		timeit token tokenize tomllib traceback tracemalloc tty types typing unicodedata unittest urllib uu uuid venv warnings wave weakref webbrowser wsgiref
		xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo compression annotationlib

		mcp fastmcp anyio sniffio pydantic pydantic_core pydantic_settings annotated_types typing_extensions typing_inspection httpx httpx_sse httpcore h11
		certifi idna starlette sse_starlette uvicorn click typer rich dotenv jsonschema jsonschema_specifications referencing rpds attr attrs multipart
		exceptiongroup requests urllib3 charset_normalizer yaml`)
}
