package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolcrib/toolcrib/internal/settings"
)

const maskedText = "swordfish"

// maskedProject has protected files of every kind: by name, by a further name, by where
// a protected link leads, by what is in them, and in a protected directory.
func maskedProject(t *testing.T, mode string) (a *App, dir string, masked []string) {
	t.Helper()
	a, dir = layerProject(t, func(c *settings.Config) { c.Mode = mode })
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	key := "-----BEGIN OPENSSH PRIVATE KEY-----\n" + maskedText + "\n-----END OPENSSH PRIVATE KEY-----\n"
	put("data/values", "A="+maskedText+"\n")
	put("deploy/in/id_rsa", key)
	put("deploy/plain", "x\n")
	put(".ssh/config", maskedText+"\n")
	put("deep/er/still/.env", "A="+maskedText+"\n")
	put("deep/er/x", "x\n")
	home := filepath.Join(filepath.Dir(dir), "home")
	if err := os.MkdirAll(filepath.Join(home, ".aws"), 0o700); err != nil {
		t.Fatal(err)
	}
	put("led/outside", maskedText+"\n")
	for link, target := range map[string]string{filepath.Join(dir, "prod.env"): "data/values", filepath.Join(home, ".aws", "credentials"): filepath.Join(dir, "led", "outside")} {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(dir, ".env"), filepath.Join(dir, "data", "further")); err != nil {
		t.Fatal(err)
	}
	return a, dir, []string{".env", "conf/.env", "data/values", "data/further", "deploy/in/id_rsa", ".ssh/config", "deep/er/still/.env", "led/outside"}
}

// sights are what is protected, as it lies there: which file, with which permissions and
// which text. It fails where its text lies anywhere else.
func sights(t *testing.T, dir string, masked []string) string {
	t.Helper()
	var out strings.Builder
	known := map[string]bool{}
	for _, name := range masked {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err != nil {
			fmt.Fprintf(&out, "%s: %v\n", name, err)
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		fmt.Fprintf(&out, "%s: %d %v %q %v\n", name, info.Sys().(*syscall.Stat_t).Ino, info.Mode(), text, err)
		known[filepath.Join(dir, name)] = true
	}
	err := filepath.WalkDir(filepath.Dir(dir), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // the journal replaces files of its own
			return nil
		}
		if err != nil || !d.Type().IsRegular() || known[path] {
			return err
		}
		if text, err := os.ReadFile(path); err != nil && !errors.Is(err, fs.ErrNotExist) || strings.Contains(string(text), maskedText) {
			t.Errorf("protected text lies in %s (%v)", path, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// maskAttacks try to read what is protected, and to have it removed, moved or replaced
// when the changes are applied.
func maskAttacks(masked []string) []string {
	var lines []string
	for _, m := range masked {
		top, _, _ := strings.Cut(m, "/")
		parent := filepath.Dir(m)
		var all strings.Builder
		for _, line := range []string{
			`cat M; cp M copy; cat copy; ln M link; cat link; ln -s M soft; cat soft; dd if=M 2>/dev/null; cat /proc/self/cwd/M /proc/self/root$PWD/M`,
			`: > M; echo x >> M; truncate -s 0 M; cp a M`,
			`rm -f M; echo mine > M`, `mv M elsewhere; cat elsewhere`, `mv a M`, `ln -f a M`, `ln -sf a M`, `chmod 777 M; cat M`, `touch -d 1999-01-01 M`,
			`exec 3<M; cat <&3; exec 4<>M; echo x >&4`,
			`tar cf - P | tar xOf - 2>/dev/null; cp -a P q; cat q/* q/*/* 2>/dev/null; rm -rf q`,
		} {
			all.WriteString("(" + strings.NewReplacer("M", m, "P", parent).Replace(line) + ")\n")
		}
		lines = append(lines, all.String())
		if top == m || top == "data" || top == "led" || top == ".ssh" { // what is done to directories is the same there
			continue
		}
		for _, line := range []string{
			`rm -rf P`, `rm -rf T; mkdir -p P; echo mine > M`, `mv P q; cat q/*`, `mv T q; find q -type f -exec cat {} +`, `rm -rf P; ln -s src P`, `rm -rf T; ln -s src T`, `rm -rf P; echo x > P`,
			`mkdir n; mv -T n P`, `mkdir n; mv -T n T`, `cp -a P n; rm -rf P; mv n P`, `chmod 0 P; rm -rf P`, `chmod 700 P; mv P src/`, `cd P && rm -rf ../* . ; echo mine > $OLDPWD/M`,
			`mkdir n; perl -e 'require "syscall.ph"; 1' 2>/dev/null; perl -e 'syscall(316, -100, "n", -100, "P", 2)'; perl -e 'syscall(316, -100, "n", -100, "T", 2)'; cat n/* n/*/* 2>/dev/null`,
			`find P -delete`, `find T -depth -exec rm -f {} \; -o -exec rmdir {} \;`,
			`setfattr -n user.overlay.opaque -v y P; setfattr -n user.overlay.whiteout -v y P; setfattr -n trusted.overlay.opaque -v y P; mknod P/w c 0 0; mknod w c 0 0; mv w M`,
		} {
			lines = append(lines, strings.NewReplacer("M", m, "P", parent, "T", top).Replace(line))
		}
	}
	return append(lines,
		`rm -rf * .[a-z]*`, `find . -delete`, `find . -type f -exec sh -c ': > "$1"' x {} \;`, `mkdir n; mv * n/; cat n/*/* n/*/*/* 2>/dev/null`,
		`unshare -Urm sh -c 'umount .env; umount -l conf/.env; cat .env conf/.env; rm -rf conf'`, `umount .env conf/.env; cat .env conf/.env`,
		`grep -rsE 'sword[f]ish' . /run /tmp /var`, `tar cf - . 2>/dev/null | tr -d '\000'`, `find / -path /usr -prune -o -path /proc -prune -o -path '*layers*' -type f -exec cat {} + 2>/dev/null`,
		`cat /.layers/*/* /.layers/*/*/* /run/hidden/* 2>/dev/null; ls -la /.layers`,
	)
}

// TestMasksHold: nothing that a command does on a layer reads a protected file, and
// nothing of it removes, moves or replaces one, in the mode that applies most.
func TestMasksHold(t *testing.T) {
	for _, mode := range []string{"default", "auto-edit", "yolo"} {
		t.Run(mode, func(t *testing.T) {
			a, dir, masked := maskedProject(t, mode)
			before := sights(t, dir, masked)
			lines := maskAttacks(masked)
			if testing.Short() || mode != "yolo" { // they are the same, and yolo lets most of them through
				var some []string
				for i := 0; i < len(lines); i += 4 {
					some = append(some, lines[i])
				}
				lines = some
			}
			refused := 0
			for _, line := range lines {
				out, told, err := lineOn(t, a, line) // what fails leaves everything as it was
				if err != nil || mode == "yolo" && strings.HasPrefix(told, "Nothing") {
					refused++
				}
				if strings.Contains(out.Stdout+out.Stderr, maskedText) || err != nil && strings.Contains(err.Error(), maskedText) {
					t.Errorf("%q read a protected file:\n%s", line, out.Stdout)
				}
				for _, m := range masked { // it may shut a directory, as anybody may
					for up := filepath.Dir(filepath.Join(dir, m)); up != dir; up = filepath.Dir(up) {
						_ = os.Chmod(up, 0o755)
					}
				}
				if now := sights(t, dir, masked); now != before {
					t.Fatalf("%q changed what is protected:\n%s\nbefore:\n%s", line, now, before)
				}
				// What it took away of the rest is there for the next attack again.
				for name, text := range map[string]string{"a": "one\n", "src/x.go": "package x\n", "deploy/plain": "x\n", "deep/er/x": "x\n"} {
					path := filepath.Join(dir, name)
					_ = os.MkdirAll(filepath.Dir(path), 0o755)
					if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
						t.Fatalf("%q: %v", line, err)
					}
				}
				for _, name := range []string{"n", "q", "copy", "link", "soft", "elsewhere", "w"} {
					_ = os.RemoveAll(filepath.Join(dir, name))
				}
			}
			t.Logf("%d attacks, %d of them refused as a whole", len(lines), refused)
			if refused > len(lines)/2 {
				t.Errorf("%d of %d attacks did not get as far as to be applied", refused, len(lines))
			}
		})
	}
}
