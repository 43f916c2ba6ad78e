package app

import "strings"

// bigRecipes take minutes, and packages from the network.
func bigRecipes() []recipe {
	const npm = `export npm_config_cache=$PWD/.cache npm_config_fund=false npm_config_audit=false npm_config_loglevel=error; `
	const largeProject = npm + `echo '{"name":"large","version":"1.0.0","private":true,"devDependencies":{"webpack":"5.90.0","webpack-cli":"5.1.4","eslint":"8.56.0","jest":"29.7.0","typescript":"5.3.3","@babel/core":"7.23.9","@babel/preset-env":"7.23.9","vite":"5.0.12","prettier":"3.2.4","rollup":"4.9.6"},"dependencies":{"express":"4.18.2","react":"18.2.0","react-dom":"18.2.0","lodash":"4.17.21","axios":"1.6.7"}}' > package.json && npm install `
	const venv = `python3 -m venv v && v/bin/pip --version >/dev/null && `
	const cargo = `export CARGO_HOME=$PWD/cargo; `
	const golang = `export GOMODCACHE=$PWD/mod GOCACHE=$PWD/cache GOFLAGS='-buildvcs=false -modcacherw'; `
	return []recipe{
		{
			name: "npm ci", needs: "npm", ready: largeProject + `>/dev/null && rm -r node_modules`,
			line: npm + `npm ci --offline >/dev/null && npx --offline tsc --version`,
		},
		{
			name: "npm install", needs: "npm", ready: largeProject + `>/dev/null && npm install chalk@5.3.0 rimraf@5.0.5 >/dev/null && npm uninstall chalk rimraf jest >/dev/null`,
			line: npm + `npm install --offline chalk@5.3.0 rimraf@5.0.5 >/dev/null && npm uninstall --offline vite >/dev/null && ls node_modules | wc -l`,
		},
		{
			name: "venv", needs: "python3", ready: venv + `v/bin/pip download -q -d wheels requests==2.31.0 flask==3.0.0 numpy==1.26.3 && rm -r v`,
			line: `export PYTHONDONTWRITEBYTECODE=1; ` + venv + `v/bin/pip install -q --no-index --find-links wheels requests flask numpy && v/bin/python -c 'import requests, flask, numpy; print(numpy.zeros(3))' && v/bin/pip uninstall -qy flask`,
		},
		{ // the names in the build cache depend on what the compilers see of the machine
			name: "go", needs: "go gcc", lost: []string{`"cache/`}, ready: golang + `unset GOPROXY; printf 'package main\n\nimport (\n\t"fmt"\n\n\t"golang.org/x/text/language"\n\t"gopkg.in/yaml.v3"\n)\n\nfunc main() { b, _ := yaml.Marshal(language.German.String()); fmt.Print(string(b)) }\n' > main.go; printf 'package main\n\nimport "testing"\n\nfunc TestX(t *testing.T) {}\n' > main_test.go; go mod init example.org/x 2>/dev/null && go get golang.org/x/text@v0.14.0 gopkg.in/yaml.v3@v3.0.1 && go mod tidy && go build -o old .`,
			line: golang + `export GOPROXY=off; echo '// more' >> main.go; go build -o new . && ./new && go vet . && go test . >/dev/null && go mod vendor && gofmt -l main.go && go install -o new2 . 2>/dev/null; go build -trimpath -o new2 .`,
		},
		{ // its notes on the compiler are in no order, so that two runs agree by chance
			name: "cargo", needs: "cargo gcc", lost: []string{`"target/.rustc_info.json": content`}, ready: cargo + `cargo init -q --name x --vcs none . && printf '[dependencies]\nserde = { version = "=1.0.195", features = ["derive"] }\nserde_json = "=1.0.111"\nitoa = "=1.0.10"\n' > deps && sed -i '/^\[dependencies\]/,$d' Cargo.toml && cat deps >> Cargo.toml && rm deps && cargo fetch -q`,
			line: cargo + `cargo build -q --offline && echo '// more' >> src/main.rs && cargo build -q --offline && ./target/debug/x && cargo test -q --offline >/dev/null && cargo build --offline 2>&1 | grep -c Compiling; true`,
		},
		{
			name: "2 GB", ready: `head -c 1000000000 /dev/zero | tr '\0' a > old`,
			line: `head -c 2147483648 /dev/zero | tr '\0' b > new; printf x | dd of=old bs=1 seek=500000000 conv=notrunc 2>/dev/null; truncate -s 3G hole`,
		},
		{
			name: "50,000 files", needs: "perl", ready: `mkdir old; perl -e 'for (1..50000) { open F, ">old/$_"; print F "$_\n"; close F }'`,
			line: `perl -e 'mkdir "new"; for (1..50000) { open F, ">new/$_"; print F "$_ x\n"; close F; if ($_ % 5 == 0) { unlink "old/$_" } elsif ($_ % 5 == 1) { open F, ">>old/$_"; print F "more\n"; close F } elsif ($_ % 5 == 2) { rename "old/$_", "old/moved$_" } }'`,
		},
		{
			name: "git of a large project", needs: "git perl", ready: gitEnv + `git init -q -b main . && perl -e 'for $d (1..100) { mkdir "d$d"; for (1..100) { open F, ">d$d/$_"; print F "$d $_\n" x 20; close F } }' && git add . && git commit -qm all && git switch -qc side && perl -e 'for (1..100) { open F, ">>d$_/1"; print F "side\n"; close F; unlink "d$_/2" }' && git commit -qam side && git switch -q main`,
			line: gitEnv + `git switch -q side && git switch -q main && git merge -q --no-ff -m merged side && rm -rf d7 && git checkout -q -- d7 && git stash -q 2>/dev/null; git log --oneline | head -3; git status --short`,
		},
		{
			name: "archives", ready: `mkdir -p a/b; seq 100000 > a/b/n; ln -s n a/b/l; ln a/b/n a/b/h; touch -d 2010-01-01 a/b/n; tar cf a.tar --owner=0 --group=0 a; gzip -k a.tar`,
			line: `mkdir x y; tar xf a.tar -C x; tar xzf a.tar.gz -C y; gunzip -c a.tar.gz > z; cmp z a.tar; rsync -a a/ c/ 2>/dev/null || cp -a a c; rm -r a; tar xf a.tar; ` + strings.Repeat("gzip -k z; gunzip -f z.gz; ", 2) + `rm a.tar.gz`,
		},
	}
}
