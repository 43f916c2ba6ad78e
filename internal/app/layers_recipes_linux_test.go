package app

// recipes take a moment each, and need no network.
func recipes() []recipe {
	return []recipe{
		{
			name: "files", ready: `echo one > a; echo two > b; mkdir -p d/e f g; echo x > d/e/x; echo y > f/y; : > empty; printf 'no end' > n; chmod 600 b; seq 100000 > long; seq 1000 > g/list; echo t > t`,
			line: `echo 2 >> a; rm b; mkdir -p n1/n2/n3; echo z > n1/n2/n3/z; chmod 750 d/e; chmod 755 a; mv d/e/x d/e/y; : > n; echo q > empty; truncate -s 5000000 hole; dd if=/dev/zero of=long bs=1 count=3 seek=10 conv=notrunc 2>/dev/null
				rm -r f; echo 'a file' > f; rm g/list; rmdir g; echo g > g; rm t; mkdir t; echo in > t/in; chmod 000 n1/n2/n3/z; chmod 500 n1/n2; mkdir closed; chmod 0 closed; chmod 444 empty; install -m 751 a inst; cp -p a kept; touch -d 2001-02-03 kept; mkdir -m 1777 sticky; ls t n1 d`,
		},
		{ // what was there before is kept for undo, and counts as a name
			name: "links", lost: []string{`"u": links`, `"u3": links`, `"e": links`, `"e2": links`}, ready: `echo a > a; ln a a2; ln -s a s; mkdir d; echo b > d/b; ln d/b b2; ln -s nowhere dangling; echo c > c; echo e > e; echo u > u; ln u u2; ln e e2; ln e e3`,
			line: `rm e3; ln c c2; ln -s ../up/and/away out; ln -s / root; ln -s d dir; ln -sfn d/b s; rm dangling; ln -s loop loop; echo n > n; ln n n2; mkdir m; ln n m/n3; ln -s "$(printf '%0250d' 1)" far; ln -s /etc/passwd pw; mv u2 u3; cp -a a2 copy; cp -al d linked; ln -P s s2; find . -type l | sort`,
		},
		{ // new names that are no text are denied, as write_file denies them
			name: "names", ready: "mkdir names; cd names; echo 1 > ' '; echo 2 > '-rf'; echo 3 > 'a\nb'; echo 4 > 'é'; echo 5 > 'x:y,z'; echo 6 > \"$(printf '\\377\\376')\"; echo 7 > '*'; echo 8 > \"$(printf 'd\\001\\033[31m')\"",
			line: "cd names; echo 9 > \"$(printf '%0255d' 7)\"; echo 1 >> ' '; rm -- -rf; rm 'a\nb'; echo 4 >> 'é'; echo 5 > 'a:b,c\\d'; rm \"$(printf '\\377\\376')\"; echo 8 > '\"quoted\" $(x) `y`'; echo 2 > ...; echo w > .wh.x; echo 3 > 'trailing '; echo 4 > '#1'; mv 'x:y,z' '--'; echo 日本 > 日本; D=deep; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do D=$D/$(printf '%0150d' $i); done; mkdir -p $D; echo deep > $D/f; ls -b",
		},
		{
			name: "odd names edited", ready: "mkdir names; cd names; echo 3 > 'a\nb'; echo 6 > \"$(printf '\\377\\376')\"; echo 8 > \"$(printf 'd\\001\\033[31m')\"; mkdir \"$(printf '\\302')\"",
			line: "cd names; echo 3 >> 'a\nb'; chmod 600 \"$(printf '\\377\\376')\"; rm \"$(printf 'd\\001\\033[31m')\"; echo x > \"$(printf '\\302')/x\"",
		},
		{
			name: "directories", ready: `for d in a b c; do mkdir -p $d/x/y; for i in 1 2 3; do echo $d$i > $d/x/y/$i; done; done; mkdir empty; chmod 711 b/x`,
			line: `mv a moved; mv b/x c/bx; cp -a c copied; rm -r c/x; mkdir -p c/x; echo new > c/x/new; rmdir empty; mkdir empty; chmod 700 empty; rm -r moved/x/y/2; find . | sort`,
		},
		{
			name: "times", ready: `echo a > a; echo b > b; touch -d 2001-01-01 a; mkdir d; echo c > d/c`,
			line: `touch -d 2002-02-02T02:02:02.123456789 new; cp -p a copy; mkdir nd; touch -d 2003-03-03 nd; tar cf t.tar --mtime=2004-04-04 --sort=name --owner=0 --group=0 a d; mkdir x; tar xf t.tar -C x; rm t.tar; echo b2 > b; touch -d 2005-05-05 b; rm a; cp -p copy a`,
		},
		{ // a file of which only the time is another counts as none
			name: "touched", lost: []string{`"a": time`, `"b": time`}, ready: `echo a > a; touch -d 2001-01-01 a; echo b > b`,
			line: `touch -d 2002-02-02 a; cat b > c; mv c b; touch -d 2003-03-03 b`,
		},
		{
			name: "make", needs: "make gcc", ready: `mkdir src; for i in 1 2 3; do echo "int f$i(void) { return $i; }" > src/f$i.c; done; echo 'int f1(void); int main(void) { return f1() - 1; }' > src/main.c
				printf 'O=$(patsubst src/%%.c,o/%%.o,$(wildcard src/*.c))\nall: prog lib.a\nprog: $(O)\n\tgcc -o $@ $^\nlib.a: $(O)\n\tar crD $@ $^\no/%%.o: src/%%.c | o\n\tgcc -c -o $@ $<\no:\n\tmkdir o\nclean:\n\trm -rf o prog lib.a\n' > Makefile; make >/dev/null; touch -d '1 hour ago' src/*; echo 'int f4(void) { return 4; }' > src/f4.c; echo 'int f2(void) { return 22; }' > src/f2.c`,
			line: `make && ./prog && make`,
		},
		{
			name: "sqlite", needs: "sqlite3", ready: `sqlite3 old.db 'create table t(a, b); with recursive c(x) as (select 1 union all select x+1 from c where x<2000) insert into t select x, hex(x) from c;'; sqlite3 wal.db 'pragma journal_mode=wal; create table w(a); insert into w values (1);' >/dev/null`,
			line: `sqlite3 old.db 'update t set b = a where a % 7 = 0; delete from t where a > 1500; create index i on t(b); vacuum;' && sqlite3 wal.db 'insert into w values (2); select count(*) from w;' && sqlite3 new.db 'create table n(x primary key); insert into n values (1), (2); select * from n;' && sqlite3 old.db 'pragma integrity_check; select count(*), sum(a) from t;'`,
		},
		{
			name: "git", needs: "git", ready: gitReady,
			line: gitEnv + `echo 3 > f3; git add f3 && git commit -qm three && git switch -qc side && echo s > s && mkdir -p sub/dir && echo x > sub/dir/x && git add . && git commit -qm side && git mv f1 f1moved && git commit -qm moved && git switch -q main && echo m > m && git add m && git commit -qm m &&
				git switch -q side && git rebase -q main && git tag -a v1 -m 'version 1' && echo dirty >> f2 && git stash -q && git stash pop -q && git stash -q && git switch -q main && git merge -q --no-edit side && git branch -d side && git stash pop -q && git checkout -q -- f2 && git rm -q f3 && git commit -qm gone && git branch other HEAD~2 && git revert --no-edit HEAD >/dev/null && git cherry-pick other >/dev/null 2>&1; git cherry-pick --abort; git log --oneline --all && git status --short`,
		},
		{ // a new repository with a work tree is denied, as write_file denies it
			name: "git bare", needs: "git", ready: gitEnv + `git init -q -b main r && cd r && echo a > a && git add a && git commit -qm a`,
			line: gitEnv + `export GIT_ALLOW_PROTOCOL=file; git clone -q --bare --no-hardlinks r b.git && cd b.git && git fsck && git log --oneline && git tag x && cd ../r && git fetch -q ../b.git main:copy && git log --oneline copy`,
		},
		{
			name: "git submodule", needs: "git", ready: gitEnv + `git init -q -b main lib && cd lib && echo l > l && git add l && git commit -qm l && cd .. && git init -q -b main top && cd top && echo t > t && git add t && git commit -qm t`,
			line: gitEnv + `export GIT_ALLOW_PROTOCOL=file; cd top && git submodule --quiet add file://$PWD/../lib sub && git commit -qm sub && git submodule status && cd sub && echo 2 >> l && git commit -qam two && cd .. && git add sub && git commit -qm bump && git log --oneline`,
		},
		{
			name: "python", needs: "python3", ready: `mkdir p; echo 'def f(): return 1' > p/__init__.py; printf 'import p, shutil, os, tempfile, pathlib\n' > main.py`,
			line: `python3 -c '
import os, shutil, tempfile, pathlib, json
os.makedirs("o/p/q"); pathlib.Path("o/p/q/f").write_bytes(bytes(range(256)))
fd, name = tempfile.mkstemp(dir="."); os.write(fd, b"t"); os.close(fd); os.replace(name, "atomic")
shutil.copytree("p", "p2"); shutil.move("p", "p3"); shutil.make_archive("z", "zip", "p2"); os.remove("z.zip")
f = open("sparse", "wb"); f.seek(1 << 22); f.write(b"x"); f.close(); os.posix_fallocate(os.open("fallen", os.O_CREAT | os.O_RDWR), 0, 100000)
os.chmod("main.py", 0o700); os.mkdir("x")
import mmap; f = open("m", "w+b"); f.truncate(8192); m = mmap.mmap(f.fileno(), 8192); m[5000:5005] = b"hello"; m.flush(); m.close(); f.close()
'`,
		},
	}
}

const gitEnv = `export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@x GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@x GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z'; `

const gitReady = gitEnv + `git init -q -b main . && for i in 1 2; do echo $i > f$i; git add f$i; git commit -qm c$i; done; mkdir sub; echo k > sub/k; git add .; git commit -qm sub; git gc -q`
