package shelltest

// WorkRules are sixty allow rules such as a sensible person writes who works with
// several languages: commands by name, most of them open, none that runs anything.
func WorkRules() []string {
	return []string{
		"git add *", "git commit *", "git checkout *", "git switch *", "git restore *", "git stash *", "git branch *", "git merge *", "git rebase *", "git fetch *", "git pull *", "git push *",
		"mkdir *", "touch *", "cp *", "mv *", "rm *", "rm -rf dist", "rm -rf build", "rm -rf node_modules", "sed -i *", "chmod +x *", "gofmt -w *",
		"go build *", "go test *", "go vet *", "go run *", "go mod *", "golangci-lint run",
		"npm test", "npm run *", "npm ci", "npm install *", "npx tsc", "npx eslint *", "npx prettier *", "npx vitest *", "npx jest *", "yarn test", "yarn build", "pnpm test", "pnpm run *", "pnpm install",
		"cargo build *", "cargo test *", "cargo check", "cargo clippy", "cargo fmt",
		"pytest", "python -m pytest", "python3 -m pytest", "pip install *", "ruff *", "mypy *",
		"make *", "cmake *", "gcc *", "mvn *", "curl *", "gh *",
	}
}

// UsedRules are sixty rules as somebody has after some weeks of work in many languages: whole
// programs where one knows them, and by name what was asked about again and again.
func UsedRules() []string {
	return []string{
		"go *", "git *", "npm *", "cargo *", "yarn *", "pnpm *", "pytest", "make *", "gh *", "curl *", "cmake *", "mvn *", "gradle *", "ruff *", "mypy *", "gcc *", "dotnet *", "docker compose *",
		"git push *", "git reset *", "git clone *", "git apply *", "git branch -d *", "git branch -m *", "git tag -a *", "git submodule update --init --recursive",
		"mkdir *", "touch *", "cp *", "mv *", "rm *", "rmdir *", "rm -rf dist", "rm -rf build", "rm -rf node_modules", "sed -i *", "chmod +x *", "chmod 644 *", "gofmt -w *",
		"npx tsc", "npx eslint *", "npx prettier *", "npx vitest *", "npx jest *", "npx mocha *", "npx playwright test *", "golangci-lint run", "staticcheck *", "go install *",
		"black *", "isort *", "flake8 *", "pylint *", "pip install *", "pip install -r requirements.txt", "uv run pytest", "bundle exec rspec *", "node --test", "node scripts/build.js", "wget *",
	}
}

// ClaudeRules are about the same rules as they stand in the settings.json of Claude
// Code, from which people import them.
func ClaudeRules() []string {
	return []string{
		"Bash(git add:*)", "Bash(git commit:*)", "Bash(git checkout:*)", "Bash(git switch:*)", "Bash(git restore:*)", "Bash(git stash:*)", "Bash(git branch:*)", "Bash(git merge:*)", "Bash(git rebase:*)", "Bash(git fetch:*)", "Bash(git pull:*)", "Bash(git push:*)",
		"Bash(mkdir:*)", "Bash(touch:*)", "Bash(cp:*)", "Bash(mv:*)", "Bash(rm:*)", "Bash(rm -rf dist)", "Bash(rm -rf build)", "Bash(rm -rf node_modules)", "Bash(sed -i *)", "Bash(chmod +x *)", "Bash(gofmt -w *)",
		"Bash(go build:*)", "Bash(go test:*)", "Bash(go vet:*)", "Bash(go run:*)", "Bash(go mod:*)", "Bash(golangci-lint run:*)",
		"Bash(npm test)", "Bash(npm test:*)", "Bash(npm run *)", "Bash(npm ci)", "Bash(npm install:*)", "Bash(npx tsc:*)", "Bash(npx eslint:*)", "Bash(npx prettier:*)", "Bash(npx vitest:*)", "Bash(npx jest:*)", "Bash(yarn test:*)", "Bash(yarn build)", "Bash(pnpm test:*)", "Bash(pnpm run:*)", "Bash(pnpm install)",
		"Bash(cargo build:*)", "Bash(cargo test:*)", "Bash(cargo check:*)", "Bash(cargo clippy:*)", "Bash(cargo fmt:*)",
		"Bash(pytest:*)", "Bash(python -m pytest:*)", "Bash(python3 -m pytest:*)", "Bash(pip install:*)", "Bash(ruff:*)", "Bash(mypy:*)",
		"Bash(make:*)", "Bash(cmake:*)", "Bash(gcc:*)", "Bash(curl:*)", "Bash(gh:*)",
	}
}
