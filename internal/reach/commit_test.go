package reach

import "testing"

func TestGitWrites(t *testing.T) {
	for line, want := range map[string]string{
		"git add a.txt":                          "add",
		"git add . && git commit -m 'a b'":       "commit",
		"/usr/bin/git commit -m x":               "commit",
		"git stash":                              "stash",
		"git add *.go":                           "add",
		"git status":                             "",
		"git stash list":                         "",
		"git diff && git log":                    "",
		"git add -n .":                           "",
		"git commit --dry-run":                   "",
		"cd sub && git add .":                    "",
		"git -C sub add .":                       "",
		"git init x && git add .":                "",
		"git clone a b; git fetch":               "",
		"sh -c 'git add .'":                      "",
		"git $SUB":                               "",
		"git commit $OPTIONS":                    "",
		"GIT_DIR=/tmp/x git add .":               "",
		"export GIT_DIR=/tmp/x; git add .":       "",
		"echo git add":                           "",
		"(cd x; git add .)":                      "",
		"git add . | tee out && git commit -m x": "commit",
		"git add .; git commit -m 'a; b'":        "commit",
		"make && git commit -m x":                "commit",
		// What goes on where git fails.
		"git pull || true && make":                              "",
		"git fetch; make":                                       "",
		"git pull 2>&1 | tail -3 && make":                       "",
		"git stash & make":                                      "",
		"git diff --quiet || git commit -m x":                   "",
		"if ! git diff --quiet; then git commit -m x; fi; make": "",
	} {
		if got := gitWrites(line); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
