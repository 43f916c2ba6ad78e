package terms

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/toolcrib/toolcrib/internal/desk"
)

// TestNamedFilesAreBound: what a line names for what it does belongs to the answer,
// once and for longer; what people work on does not belong to what is remembered.
func TestNamedFilesAreBound(t *testing.T) {
	dir, _, of := commands(t)
	if err := os.MkdirAll(filepath.Join(dir, "chart", "templates"), 0o755); err != nil {
		t.Fatal(err)
	}
	put := func(text string) {
		t.Helper()
		for _, name := range []string{"f", "b", "g.x", "app.py", "main.tf", "Vagrantfile", "setup.py", "a.js", "x.py", "chart/templates/f"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "x.db"), []byte("SQLite format 3\x00"+text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{
		"ssh h < f", "ssh -F f h", "scp f h:", "xargs rm < f", "cat f | xargs rm", "rm $(cat f)", "rm `cat f`", "sort f | uniq | xargs rm", "cat g.* | xargs rm",
		"while read x; do rm $x; done < f", "while read x; do echo 1 > $x; done < f", "rsync --files-from=f a b", "wget -i f", "patch -p1 < f", "curl -d @f http://x.example", "curl -F a=@f http://x.example",
		"nodemon f", "pm2 start f", "kubectl apply -f f", "kubectl apply -ff", "kubectl apply -f chart", "helm install x ./chart", "terraform apply", "vagrant up", "packer build f", "pip install .", "pip install -r f",
		"uvicorn app:main", "gunicorn app:main", "celery -A app worker", "flask run", "nginx -c f", "cp f b", "tar xf f", "tar -T f -cf b", "unzip f", "sudo -A scp f h:", "nohup kubectl apply -f f",
	} {
		put("1")
		first := of(line)
		put("2")
		if again := of(line); !first.Floor && sameFiles(first.Files, again.Files) {
			t.Errorf("%q is remembered for another file: %v", line, first.Files)
		} else if first.Bind == again.Bind && sameFiles(first.Files, again.Files) {
			t.Errorf("%q: one answer holds for another file", line)
		}
	}
	for _, line := range []string{
		"git add a.js", "git commit -m x a.js", "prettier --write a.js", "npx prettier --write a.js", "eslint --fix a.js", "npx eslint a.js", "black x.py", "uv run black x.py", "poetry run pytest x.py", "pytest x.py", "timeout 60 pytest x.py", "nohup pytest x.py",
		"gcc -o f a.c", "go test -coverprofile=f ./...", "go build -o f", "rm f", "touch f", "mv f b", "chmod 644 f", "gzip f", "curl -o f http://x.example", "curl -sSLo f http://x.example", "wget -O f http://x.example",
		"tar czf f chart", "tar -czf f chart", "zip f a.js", "cp missing f", "make f", "python3 -c 'print(1)' < f", "cat f | python3 -c 'print(1)'", "sqlite3 x.db 'select 1'", "find . -name f -exec touch {} +", "echo 1 | tee f", "sudo rm f",
	} {
		put("1")
		first := of(line)
		put("2")
		if again := of(line); first.Floor || !sameFiles(first.Files, again.Files) {
			t.Errorf("%q is asked again after ordinary work: %v", line, again.Files)
		}
	}
}

func sameFiles(a, b []desk.File) bool { return slices.Equal(a, b) }
