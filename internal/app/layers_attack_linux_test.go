package app

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/toolcrib/toolcrib/internal/settings"
)

// obeyedNames are paths that other programs read, which they reach by whatever links
// lie on the way.
func obeyedNames() []string {
	return []string{
		".cargo/config.toml", "src/.cargo/config.toml", ".config/git/config", ".config/mise/config.toml", ".agents/x.ts", ".github/workflows/x.yml", ".github/hooks/x.json", ".direnv/bin/x",
		".envrc", ".npmrc", ".vscode/tasks.json", "src/.vscode/tasks.json", ".git/config", ".git/hooks/pre-commit", ".git/info/attributes", ".claude/settings.json", ".mcp.json", "tools/hooks/pre-commit", "sub/.git/config", "sub/.git",
		"d\xff/.envrc", "d\n/.envrc", "d/.envrc", ".husky/pre-commit", ".env", "conf/.env",
	}
}

// reached is what programs find under these names.
func reached(dir string) string {
	var out strings.Builder
	for _, name := range obeyedNames() {
		text, err := os.ReadFile(filepath.Join(dir, name))
		switch {
		case err == nil:
			out.WriteString(name + ": " + string(text) + "\n")
		case errors.Is(err, syscall.EISDIR):
			out.WriteString(name + " is a directory\n")
		}
	}
	return out.String()
}

// unlawful finds what no tool for files could have made: attributes of overlays,
// capabilities and lists of users, setuid files, pipes, sockets and devices.
func unlawful(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode()&(os.ModeNamedPipe|os.ModeSocket|os.ModeDevice|os.ModeSetuid) != 0 || info.Mode()&os.ModeSetgid != 0 && !info.IsDir() {
			out.WriteString(path + " " + info.Mode().String() + "\n")
		}
		buf := make([]byte, 4096)
		n := 0
		if info.Mode()&os.ModeSymlink == 0 {
			n, _ = syscall.Listxattr(path, buf) // a file system without any says so
		}
		for name := range strings.SplitSeq(string(buf[:max(n, 0)]), "\x00") {
			if strings.HasPrefix(name, "user.overlay.") || name == "security.capability" || strings.HasPrefix(name, "system.posix_acl") {
				out.WriteString(path + " has the attribute " + name + "\n")
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// layerAttacks are lines that try to have something obeyed, unlawful or outside of the
// project changed, where the mode allows to write.
func layerAttacks() map[string][]string {
	python := func(code string) string { return "python3 -c '" + code + "'" }
	return map[string][]string{
		"a link for the directory around settings": {`mkdir c1; echo evil > c1/config.toml; ln -s c1 .cargo`},
		"the link first":                               {`ln -s c2 .cargo`, `mkdir c2; echo evil > c2/config.toml`},
		"the link last":                                {`mkdir c3; echo evil > c3/config.toml`, `ln -s c3 .cargo`},
		"a chain of links":                             {`mkdir c4; echo evil > c4/config.toml; ln -s c4 l4; ln -s l4 src/.cargo`},
		"a link for .config":                           {`mkdir -p c5/git c5/mise; echo evil | tee c5/git/config > c5/mise/config.toml; ln -s c5 .config`},
		"a link for .agents":                           {`mkdir c6; echo evil > c6/x.ts; ln -s c6 .agents`},
		"a link for .github":                           {`mkdir -p c7/workflows c7/hooks; echo evil | tee c7/workflows/x.yml > c7/hooks/x.json; ln -s c7 .github`},
		"a link for .direnv":                           {`mkdir -p c8/bin; echo evil > c8/bin/x; ln -s c8 .direnv`},
		"a link for .vscode":                           {`mkdir c9; echo evil > c9/tasks.json; ln -s ../c9 src/.vscode`},
		"a link on the way to hooks":                   {`mkdir -p c10/hooks; echo evil > c10/hooks/pre-commit; ln -s c10 tools`},
		"a link on the way to hooks, made by a rename": {`mkdir -p c11/hooks; echo evil > c11/hooks/pre-commit; ln -s c11 l11; mv -T l11 tools`},
		"a directory moved to an obeyed name":          {`mkdir -p c12; echo evil > c12/tasks.json; mv c12 src/.vscode`},
		"a directory moved to an obeyed name, later":   {`mkdir -p c13; echo evil > c13/config.toml`, `mv c13 .cargo`},
		"a further name for git's settings":            {`ln .git/config g1; echo evil >> g1`, `echo evil >> g1`},
		"a further name moved over git's settings":     {`cp .git/config g2; echo evil >> g2; ln g2 g3; mv g3 .git/config`},
		"exchanged with git's settings":                {`cp .git/config g4; echo evil >> g4; perl -e 'syscall(316, -100, "g4", -100, ".git/config", 2)'`},
		"a link to the repository":                     {`ln -s .git gl; echo evil >> gl/config; mkdir -p gl/hooks; echo evil > gl/hooks/pre-commit`, `echo evil > gl/hooks/pre-commit`},
		"another case":                                 {`mkdir -p .VSCode .GIT/hooks .Cargo; echo evil | tee .VSCode/tasks.json .GIT/hooks/pre-commit .Cargo/config.toml > .ENVRC`},
		"a name that is no text":                       {python(`import os; os.mkdir(b"d\xff"); open(b"d\xff/.envrc","w").write("evil")`)},
		"a name that is no text, beside a link":        {python(`import os; os.mkdir(b"d\xff"); os.symlink("src", b"d\xef\xbf\xbd"); open(b"d\xff/.envrc","w").write("evil")`)},
		"a name with a newline":                        {python(`import os; os.mkdir("d\n"); open("d\n/.envrc","w").write("evil")`)},
		"a repository as a file":                       {`mkdir sub; echo "gitdir: ../c14" > sub/.git; mkdir c14; echo evil > c14/config`},
		"a repository as a link":                       {`mkdir -p sub c15; echo evil > c15/config; ln -s ../c15 sub/.git`},
		"a directory in the place of a file, and back": {`rm a; mkdir a; mkdir a/.vscode; echo evil > a/.vscode/tasks.json; rm -r a; echo evil > .envrc; mv .envrc a; mv a .envrc`},
		"attributes of the overlay":                    {python(`import os; [os.setxattr(p, "user.overlay."+n, v) for p in ("src","conf",".") for n,v in (("opaque",b"y"),("redirect",b"/.git"),("whiteout",b""),("overlay.opaque",b"y"),("overlay.whiteout",b""))]`), `for n in opaque redirect whiteout metacopy overlay.opaque overlay.whiteout overlay.overlay.opaque; do for f in a src conf; do setfattr -n user.overlay.$n -v y $f; done; done; echo x > src/n; echo y >> a`},
		"attributes of the overlay in a new directory": {`mkdir x1 x1/y; for n in opaque redirect origin whiteout overlay.opaque overlay.redirect; do setfattr -n user.overlay.$n -v /.git x1/y; setfattr -n user.overlay.$n -v y x1; done; touch x1/y/f; ` + python(`import os; os.setxattr("x1/y", "user.overlay.opaque", b"y")`)},
		"whiteouts by hand":                            {`mknod src/w c 0 0; mknod w c 0 0; mv w src/x.go; mv src/w .git/config; touch .wh.a .wh..wh..opq src/.wh.x.go`},
		"a whiteout by a rename":                       {`touch w1; perl -e 'syscall(316, -100, "w1", -100, "w2", 4)'; perl -e 'syscall(316, -100, ".git/config", -100, "w3", 4)'`},
		"pipes, sockets and devices":                   {`mkdir p1; mkfifo p1/f .envrc; mknod p1/n c 1 3; mknod p1/b b 8 0; ` + python(`import socket; socket.socket(socket.AF_UNIX).bind("p1/s")`) + `; touch p1/ok`},
		"setuid":                                       {`cp /bin/true s1; chmod 4755 s1`, `mkdir s2; cp /bin/true s2/x; chmod 2755 s2/x`, `touch s3; chmod 4777 s3; ln s3 s4`},
		"setuid by a later chmod":                      {`cp /bin/true s5`, `chmod 6755 s5`},
		"capabilities":                                 {`cp /bin/true k1; ` + python(`import os, struct; os.setxattr("k1", "security.capability", struct.pack("<IIIII", 0x02000001, 0xffffffff, 0, 0xffffffff, 0))`), `cp /bin/true k2; unshare -Ur python3 -c 'import os, struct; os.setxattr("k2", "security.capability", struct.pack("<IIIII", 0x02000001, 0xffffffff, 0, 0xffffffff, 0))'`},
		"a list of users":                              {`touch u1; setfacl -m u:0:rwx,g:0:rwx,m::rwx u1; setfacl -d -m u::rwx,u:0:rwx,g::rwx,o::rwx,m::rwx src; mkdir u2; setfacl -d -m u::rwx,g::rwx,o::rwx,u:0:rwx,m::rwx u2; touch u2/f`, python(`import os, struct; open("u3","w"); os.setxattr("u3", "system.posix_acl_access", struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *e) for e in ((1,7,0xffffffff),(2,7,os.getuid()),(4,7,0xffffffff),(16,7,0xffffffff),(32,7,0xffffffff))))`)},
		"permissions of a file with a name elsewhere":  {`chmod 777 linked`, `chmod 000 linked`, `echo evil >> linked`, `mv linked l2; chmod 777 l2`, `: > linked`},
		"permissions of a repository":                  {`chmod 777 .git .git/config; chmod 000 .git`, `chmod 755 .git/hooks/x.sample`},
		"the bits of links":                            {`ln -s ../../home/.bashrc b1; echo evil >> b1; chmod 777 b1; ln -sf ../other b2; echo evil > b2/file; touch b2/new`},
		"an absolute link to Toolcrib's state":         {`ln -s "$(dirname "$PWD")/state" st; ls st; echo evil > st/config.yaml; cat st/*; ls -R /.layers`},
	}
}

// TestLayerAttacks: in auto-edit and yolo, with nobody to answer, nothing that others obey is
// reached under its name afterwards, nothing unlawful lies in the project, and nothing
// outside of it has changed.
func TestLayerAttacks(t *testing.T) {
	const shards = 3
	all := layerAttacks()
	names := slices.Sorted(maps.Keys(all))
	for shard := range 2 * shards {
		mode := []string{"auto-edit", "yolo"}[shard/shards]
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			a, dir := battlefield(t, func(c *settings.Config) { c.Mode = mode })
			openLayers(t, filepath.Join(filepath.Dir(dir), "state", "layers"))
			if err := os.WriteFile(filepath.Join(dir, ".git", "config"), []byte("[core]\n\trepositoryformatversion = 0\n\thooksPath = tools/hooks\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			home, other := filepath.Join(filepath.Dir(dir), "home"), filepath.Join(filepath.Dir(dir), "other")
			if err := os.Link(filepath.Join(other, "file"), filepath.Join(dir, "linked")); err != nil {
				t.Fatal(err)
			}
			look := func() string {
				return reached(dir) + kept(inventory(t, dir)) + unlawful(t, dir) + inventory(t, home) + inventory(t, other)
			}
			before := look()
			for i := shard % shards; i < len(names); i += shards {
				for _, line := range all[names[i]] {
					out, err := runCommand(t.Context(), a, line, 10)
					if err != nil {
						t.Errorf("%s: %q did not run: %v", names[i], line, err)
					}
					if strings.Contains(out.Stdout+out.Stderr, "swordfish") {
						t.Errorf("%s: %q printed a protected text", names[i], line)
					}
					if now := look(); now != before {
						t.Errorf("%s: %q changed something:\n%s\nbefore:\n%s\nit printed %s%s", names[i], line, now, before, out.Stdout, out.Stderr)
						before = now
					}
				}
			}
		})
	}
}
