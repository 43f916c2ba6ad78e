package app

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolcrib/toolcrib/internal/settings"
)

// TestOldLeftBehind: whatever one command leaves behind, the next one of the session
// starts, and reads nothing that is protected.
func TestOldLeftBehind(t *testing.T) {
	d := strings.Repeat("d/", 24)
	onGround(t, func(g *ground) { g.put(map[string]string{"sub/x": "x", "conf/x": "x"}) }, nil, func(g *ground) {
		for i, c := range [][3]string{ // a name, what is left behind, and what is tried then
			{"a hard link", "ln conf/.env other; ln .env sub/third", "cat .env other sub/third"}, {"a hard link to its directory's file", "mkdir k; cp -al conf k/; mv conf c2", "cat k/conf/.env c2/.env"},
			{"a deep tree", "python3 -c '\nimport os\nfor i in range(400):\n    os.mkdir(\"d\"); os.chdir(\"d\")\nopen(\".env\", \"w\").write(\"x\")'", "cat conf/.env"}, {"long names", "python3 -c '\nimport os\nfor i in range(40):\n    os.mkdir(\"d\"*250); os.chdir(\"d\"*250)\nopen(\".env\", \"w\").write(\"x\")'", "cat conf/.env"},
			{"many in a directory", "python3 -c '\nimport os\nos.mkdir(\"many\")\nfor i in range(300): open(\"many/.env.%d\" % i, \"w\").write(\"x\")'", "cat conf/.env"}, {"many at the top", "python3 -c '\nfor i in range(300): open(\".env.%d\" % i, \"w\").write(\"x\")'", "cat conf/.env"},
			{"many in many directories", "python3 -c '\nimport os\nfor i in range(150): os.makedirs(\"many/%d/x\" % i); open(\"many/%d/x/.env\" % i, \"w\").write(\"x\")'", "cat conf/.env"}, {"many repositories", "python3 -c '\nimport os\nfor i in range(150): os.makedirs(\"many/%d/.git\" % i)'", "cat conf/.env; touch many/7/.git/x"},
			{"many names of one file", "mkdir l; for i in $(seq 300); do ln conf/x l/$i; done; ln conf/.env l/e", "cat l/e conf/.env"}, {"a directory that nobody may enter", "mkdir shut; echo x >shut/.env; chmod 0 shut; chmod 0 conf", "chmod 755 shut conf; cat shut/.env conf/.env"},
			{"no index", "mkdir r r/.git; echo junk >r/.git/index; touch r/.git/HEAD; echo junk > .git/index", "cat .git/index conf/.env"}, {"a loop of links", "ln -s .env.b .env.a; ln -s .env.a .env.b; ln -s . loop; ln -s loop/loop/conf/.env e", "cat e loop/loop/.env loop/conf/.env"},
			{"names that are no text", "python3 -c '\nimport os\nfor n in (b\".env\\xff\\n\", b\"\\xfe\", b\"a b\\t\"): os.mkdir(n); open(n + b\"/f\", \"w\").write(\"x\"); os.symlink(b\"../conf\", n + b\"/l\")'", "cat */l/.env .env*/l/.env"}, {"a pipe", "mkfifo .env2 id_rsa k.pem; rm -f conf/.env; mkfifo conf/.env", "timeout 1 cat conf/.env .env"},
			{"a deep protected file", "mkdir -p " + d + "; ln -s " + strings.Repeat("../", 24) + "conf/.env " + d + "e", "cat " + d + "e"}, {"a link over a link", "mkdir -p src x; ln -s . d; ln -s ../d/x src/.vscode; ln -s ../d/conf src/l", "cat src/l/.env; touch x/new; rm d src/.vscode"},
			{"a link to what is missing", "mkdir -p src x; ln -s . d; ln -s ../d/y/z src/.vscode", "mkdir -p y/z; echo evil > y/z/tasks.json"}, {"a link that leads to itself", "mkdir -p src; ln -s .vscode src/.vscode; ln -s b src/a; ln -s a src/b", "touch src/x; cat .env"},
			{"closed to ourselves", "chmod 555 . conf", "touch .envrc; mkdir .vscode; cat conf/.env"}, {"only entered", "chmod 311 . conf sub", "cat conf/.env; echo evil > .envrc"}, {"only listed", "chmod 444 conf sub", "cat conf/.env; chmod 755 conf; cat conf/.env"},
			{"a descriptor that is passed on", `python3 -c '
import os, socket
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
if os.fork() == 0:
    f = os.open(".", os.O_RDONLY); socket.send_fds(a, [b"x"], [f]); os._exit(0)
os.wait(); _, fds, _, _ = socket.recv_fds(b, 1, 1)
for n in (".env", "conf/.env"):
    try: print(open(os.open(n, os.O_RDONLY, dir_fd=fds[0])).read())
    except OSError as e: print(e)
for n in (".envrc", "../other/file", "../home/.bashrc"):
    try: os.write(os.open(n, os.O_WRONLY | os.O_CREAT, dir_fd=fds[0]), b"evil")
    except OSError as e: print(e)'`, "ls -l /proc/self/fd /proc/1/fd; cat /proc/*/root$PWD/.env /proc/*/cwd/.env"},
			{"out of the view", `cd ..; ls -la . home other state; cat other/file home/.ssh/* /proc/*/root$OLDPWD/../home/.ssh/id_ed25519; echo evil > other/file; echo evil >> home/.bashrc; ln -s ../other $OLDPWD/o; echo evil > $OLDPWD/o/file`, "cat o/file; echo evil > o/new; unshare -Urm true; mount -t tmpfs x o; chroot . true; umount conf/.env"},
		} {
			if g.skips(i, 2) {
				continue
			}
			g.tried++
			session := "left" + c[0]
			told := g.run(c[0], session, c[1])
			told += g.run(c[0], session, "exec 2>&1; chmod 755 . sub; "+c[2]+"; echo it works")
			if !strings.Contains(told, "it works") {
				t.Errorf("%s: the next one does not start: %s", c[0], told[max(0, len(told)-1500):])
			}
			g.judge(c[0], told)
			g.restore(c[0])
		}
	})
}

// TestOldCrowds: with more repositories than can be looked at one by one, what the
// settings of one of them name elsewhere is found all the same, also in closed directories.
func TestOldCrowds(t *testing.T) {
	for name, mode := range map[string]string{"open": "755", "entered": "311", "shut": "000", "listed": "444"} {
		onGround(t, func(g *ground) {
			g.put(map[string]string{
				"hooks/pre-commit": "x", "shared/tasks.json": "{}", "gits/HEAD": "ref: refs/heads/main\n", "gits/config": "[include]\n\tpath = ../inc\n", "gits/objects/x": "", "gits/refs/x": "", "inc": "",
				"vendor/x/.git/HEAD": "ref: refs/heads/main\n", "vendor/x/.git/config": "[core]\n\thooksPath = ../../hooks\n[include]\n\tpath = ../../../inc2\n", "vendor/x/.git/objects/x": "", "vendor/x/.git/refs/x": "", "vendor/y/deep/.git": "gitdir: ../../../gits\n", "vendor/y/z": "x",
			})
			g.link(map[string]string{"vendor/.vscode": "../shared", "src/.idea/x.xml": "../../led/x.xml", "vendor/x/.git/hooks/pre-push": "../../../../led/hook", "docs/.cargo/config.toml": "../../gone/config.toml"})
			if name == "open" {
				g.shell(g.dir, "for i in $(seq 80); do mkdir -p a$i/.git/objects a$i/.git/refs; echo ref: refs/heads/x > a$i/.git/HEAD; done")
			}
			if err := syscall.Mkfifo(filepath.Join(g.dir, "pipe"), 0o600); err != nil {
				g.t.Fatal(err)
			}
		}, nil, func(g *ground) {
			g.watch("hooks", "shared", "gits/config", "inc", "vendor/x/.git/config", "led", "gone", "inc2")
			for i, f := range []string{"hooks/pre-commit", "hooks/new", "shared/tasks.json", "shared/launch.json", "inc", "gits/config", "inc2", "led/x.xml", "led/hook", "gone/config.toml"} {
				if name != "open" && g.skips(i, 3) {
					continue
				}
				g.try(name+" "+f, "chmod "+mode+" vendor/y vendor; mkdir -p "+filepath.Dir(f)+"; echo evil >> "+f, "echo evil > "+f)
			}
		})
	}
}

// TestOldRules: what rules deny is neither read nor written nor made, by links neither, and
// is no obstacle to what goes through the project.
func TestOldRules(t *testing.T) {
	onGround(t, func(g *ground) {
		g.put(map[string]string{
			"real/f": "x", "realsec/a.txt": maskedText, "x/f": "y", "secrets/k": maskedText, "secrets/deep/k": maskedText, "src/a": "hallo", "infra/main.tf": "old", "a.txt": "a", "dist/a": "x", "vault/d/x": maskedText, "old.lock": "old", "case/K": maskedText,
		})
		g.link(map[string]string{"lsrc": "real", "lsec": "realsec", "vault/up": "../x", "real/out": "../x/f"})
	}, func(c *settings.Config) {
		c.Permissions.Deny = []string{"read_file(./lsec/*.txt)", "read_file(./secrets/**)", "read_file(./vault/**)", "read_file(./case/k)", "write_file(./lsrc/**)", "write_file(./deploy/**)", "write_file(./infra/*.tf)", "write_file(**/*.lock)", "delete_file(./infra/*.tf)", "delete_file(./lsrc/**)", "delete_file(**/*.lock)"}
	}, func(g *ground) {
		g.watch("real", "realsec", "secrets", "vault", "case", "deploy", "infra", "old.lock", "src/new.lock", "lsrc", "lsec")
		for i, lines := range [][]string{
			{"rm lsrc lsec; ln -sfn x lsrc; ln -sfn x lsec", "cat realsec/a.txt lsec/a.txt; echo evil > real/f; echo evil > lsrc/f"}, {"mv lsec l; mv realsec r; cat realsec/a.txt lsec/a.txt r/a.txt l/a.txt", "cat r/a.txt l/a.txt"}, {"echo evil > real/f"}, {"echo evil > lsrc/f"}, {"echo evil > lsrc/new"},
			{"cat secrets/k vault/d/x case/K; cp -r . /tmp/all; cat /tmp/all/secrets/k; tar cf - . | tr -d '\\0'; ln secrets/k k; cat k; mv secrets s; cat s/k", "cat k s/k s/deep/k"}, {"touch secrets/n; mkdir secrets/d; chmod 777 secrets; rmdir secrets; rm -rf secrets vault"}, {"rm -rf secrets; mkdir secrets; echo mine > secrets/k"},
			{"mkdir deploy; echo z > deploy/w"}, {"mkdir q; echo z > q/w; mv q deploy"}, {"mkdir q; echo z > q/w; ln -s q deploy", "echo z > deploy/y"}, {"echo z > infra/main.tf"}, {"cp a.txt infra/dev.tf"}, {"mv a.txt infra/b.tf"}, {"ln -s ../a.txt infra/link.tf"}, {"mv infra i; mkdir infra; echo z > infra/main.tf"},
			{"rm infra/main.tf"}, {"mv infra i2"}, {"echo z > old.lock"}, {"echo z > src/new.lock"}, {"mkdir -p n/m; echo z > n/m/x; mv n/m/x src/NEW.lock; mv src/NEW.lock src/new.lock"}, {"ln real/f src/mine; echo evil >> src/mine"}, {"ln a.txt old.lock2; mv old.lock2 old.lock"},
		} {
			if g.skips(i, 1) {
				continue
			}
			g.try(strings.Join(lines, " | "), lines...)
		}
		if said := g.run("no obstacle", "", "find . >/dev/null; grep -r hallo . 2>/dev/null; du -s . >/dev/null; cp -r . /tmp/all; echo ends"); !strings.Contains(said, "ends") || !strings.Contains(said, "hallo") {
			t.Errorf("what goes through the project stops: %s", said)
		}
	})
}
