package policy

import (
	"testing"

	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

// TestRulesMeanEveryName: what a rule takes away is not to be had under another
// name, and what it does not mean is let be.
func TestRulesMeanEveryName(t *testing.T) {
	for rule, lines := range map[string]map[string]string{
		"git checkout -- *": {"git checkout -- .": "deny", "git checkout HEAD -- a": "deny", "git checkout -q -- .": "deny", "git checkout .": "deny", "git checkout main": "", "git checkout -b x": ""},
		"npm run x -- *":    {"npm run x -- y": "deny", "npm run x": "", "npm run y -- x": ""},
		"make deploy *":     {"make deploy": "deny", "make V=1 deploy": "deny", "make test deploy": "deny", "gmake -j4 build deploy V=1": "deny", "make test": "", "make deploy-docs": "", "make -C deploy test": "", "make -f deploy all": "", "make -C deploy deploy": "deny"},
		"tar -xzf *":        {"tar xzf a": "deny", "tar zxf a": "deny", "tar xfz a": "deny", "tar --extract -zf a": "deny", "tar czf a b": "", "tar tzf a": "", "tar -czf a x": ""},
		"source *":          {". ./x": "deny", ". x": "deny", "command . ./x": "deny", "sh x": ""},
		"psql -h prod *":    {"psql --host=prod x": "deny", "psql --host prod": "deny", "psql postgres://prod/x": "deny", "psql postgresql://ann:x@prod:5432/x -c y": "deny", "psql 'host=prod dbname=x'": "deny", "psql -d postgres://prod/x": "deny", "psql --dbname=postgres://prod/x": "deny", "psql --host=dev": "", "psql prod": "", "psql postgres://dev/prod": ""},
		"npx *":             {"npm exec x": "deny", "npm x y": "deny", "npm exec -- y": "deny", "npx y": "deny", "npm test": "", "npm run exec": ""},
		"npm exec x *":      {"npx x": "deny", "npx -y x y": "deny", "npm x x": "deny", "npx y": ""},
		"docker rm *":       {"docker container remove x": "deny", "docker image remove x": "", "docker ps": ""},
		"docker rmi *":      {"docker image remove x": "deny", "docker container remove x": ""},
		"node s/d.js *":     {"node s/d": "deny", "node s/d x": "deny", "node s/e": ""},
		"make deploy":       {"make deploy test": "deny", "make test": ""},
		"mvn deploy *":      {"mvn clean deploy": "deny", "./mvnw -B clean deploy": "deny", "mvn package": ""},
		"gradle publish *":  {"gradle clean publish": "deny", "./gradlew :publish": "deny", "gradle test": ""},
		"curl -X POST *":    {"curl -X POST u": "deny", "curl u -X POST": "deny", "curl -XPOST u": "deny", "curl -sXPOST u": "deny", "curl -sX POST u": "deny", "curl u --request POST": "deny", "curl --request=post u": "deny", "curl -X post u": "deny", "curl u": "", "curl -X GET u": "", "curl POST": ""},
		"kubectl -n prod delete *": {
			"kubectl -n prod delete pod x": "deny", "kubectl delete pod x -n prod": "deny", "kubectl delete pod x --namespace=prod": "deny", "kubectl delete -nprod pod x": "deny", "kubectl -n dev delete pod x": "", "kubectl -n prod get pods": "",
		},
		"sed -i *":                        {"sed --in-place s/a/b/ x": "deny", "sed --in s/a/b/ x": "deny", "sed -i.bak s/a/b/ x": "deny", "sed s/a/b/ x": "", "sed -n p x": ""},
		"node -e *":                       {"node --eval x": "deny", "node -p x": "deny", "nodejs --eval=x": "deny", "node x.js": ""},
		"perl -e *":                       {"perl -E x": "deny", "perl -nE x": "deny", "perl x.pl": ""},
		"git branch -D *":                 {"git branch -d -f x": "deny", "git branch --delete --force x": "deny", "git branch -df x": "deny", "git branch -d x": "", "git branch x": ""},
		"git add -A *":                    {"git add --all": "deny", "git add -vA": "deny", "git add x": ""},
		"terraform apply -auto-approve *": {"terraform apply --auto-approve": "deny", "terraform apply": "", "terraform plan": ""},
		"chmod 777 *":                     {"chmod 0777 x": "deny", "chmod a+rwx x": "deny", "chmod -R 777 x": "deny", "chmod 755 x": ""},
		"python3 -m pip *":                {"python3 -mpip install x": "deny", "python3 -I -mpip x": "deny", "python -Im pip x": "deny", "python3.11 -m pip x": "deny", "pip3 x": "deny", "python3 x.py": "", "python3 -m pytest": ""},
		"pip install *":                   {"pip3 install x": "deny", "pip3.11 install x": "deny", "python3 -m pip install x": "deny", "python3 -m pip -q install x": "deny", "uv pip install x": "deny", "pip list": "", "python3 -m pip list": ""},
		"python3 -c *":                    {"python3.11 -c x": "deny", "python -Ic x": "deny", "python3 x.py -c": "deny", "python3 x.py": ""},
		"python3 manage.py migrate *":     {"python3 ./manage.py migrate": "deny", "python manage.py migrate": "deny", "./manage.py migrate": "deny", "python3 -u manage.py migrate": "deny", "python3 -m manage migrate": "deny", "python3 -mmanage migrate": "deny", "python3 -m manage test": "", "python3 -m pytest migrate": "", "python3 manage.py test": ""},
		"npm install *":                   {"npm i x": "deny", "npm in x": "deny", "npm add x": "deny", "npm --save inst x": "deny", "npm --loglevel error i x": "deny", "npm --prefix web t": "", "npm test": "", "npm run i": ""},
		"npm publish *":                   {"yarn publish": "deny", "yarn npm publish": "deny", "pnpm publish": "deny", "pnpm publish --tag x": "deny", "bun publish": "deny", "pnpm install": "", "yarn test": "", "npm pub": "deny", "npm publis": "deny", "npm run publish-docs": "", "npm pack": ""},
		"npm run deploy *":                {"node --run deploy": "deny", "node --run=deploy": "deny", "node --run build": "", "node deploy": "", "npm run-script deploy": "deny", "npm rum deploy": "deny", "npm run -s deploy": "deny", "npm run build": ""},
		"npm test *":                      {"npm t": "deny", "npm run test": "deny", "npm run test-x": ""},
		"yarn run deploy *":               {"yarn deploy": "deny", "yarn run deploy": "deny", "yarn build": ""},
		"cargo run *":                     {"cargo r": "deny", "cargo +nightly run": "deny", "cargo +nightly r": "deny", "cargo build": ""},
		"docker exec *":                   {"docker container exec c ls": "deny", "docker ps": "", "docker container ls": ""},
		"docker push *":                   {"docker image push x": "deny", "docker pull x": ""},
		"docker compose down *":           {"docker-compose down": "deny", "docker-compose -f x down": "deny", "docker compose up": ""},
		"helm uninstall *":                {"helm delete x": "deny", "helm un x": "deny", "helm list": ""},
		"kubectl delete namespace *":      {"kubectl delete ns x": "deny", "kubectl delete namespace/x": "deny", "kubectl delete namespaces x": "deny", "kubectl delete pod x": ""},
		"ssh prod *":                      {"ssh user@prod ls": "deny", "ssh -p 22 ann@prod": "deny", "ssh ssh://prod ls": "deny", "ssh PROD": "deny", "ssh Ann@Prod ls": "deny", "ssh ssh://ann@prod:22": "deny", "ssh dev PROD": "", "ssh dev ls": ""},
		"apt-get install *":               {"apt install x": "deny", "apt-get -y install x": "deny", "apt list": ""},
		"./scripts/deploy.sh *":           {"sh scripts/deploy.sh": "deny", "bash ./scripts/deploy.sh x": "deny", ". ./scripts/deploy.sh": "deny", "cd scripts && sh deploy.sh": "deny", "./link.sh": "deny", "sh link.sh": "deny", "sh other/deploy.sh": "", "sh scripts/build.sh": "", "cat scripts/deploy.sh": ""},
		"bash scripts/deploy.sh *":        {"bash ./scripts/deploy.sh": "deny", "bash scripts//deploy.sh": "deny", "sh scripts/deploy.sh": "deny", "./scripts/deploy.sh": "deny", "cd scripts && bash -x deploy.sh": "deny", "./link.sh": "deny", "bash scripts/build.sh": ""},
		"deploy.sh *":                     {"sh scripts/deploy.sh": "deny", "./link.sh": "deny", "sh build.sh": ""},
		"git push --force-with-lease *":   {"git push --force-with-lease": "deny", "git push": ""},
		"docker run -v /:/host *":         {"docker run --rm -v /:/host x": "deny", "docker run -it x --volume=/:/host": "deny", "docker run x": ""},
		"rm -rf build *":                  {"rm -rf build": "deny", "rm -r -f ./build": "deny", "rm -rf dist": ""},
	} {
		m := shelltest.NewMachine()
		m.Links[work+"/link.sh"] = work + "/scripts/deploy.sh"
		p, _ := desk(t, ModeYolo, Layer{Rank: RankUser, Permissions: Permissions{Deny: []string{"run_command(" + rule + ")"}}})
		p.Shell.Options.EvalSymlinks = m.EvalSymlinks
		checkDeny(t, p, rule, lines)
	}
}

// TestRulesMeanEveryNameBehindStarters: behind a program that may start others, each
// name of a command is known that is known where it stands alone.
func TestRulesMeanEveryNameBehindStarters(t *testing.T) {
	for rule, commands := range map[string][]string{
		"npm test *": {"npm test", "npm t", "npm run test"}, "npm install *": {"npm i x", "npm add x"}, "pip install *": {"pip3 install x", "python3 -m pip install x", "uv pip install x"}, "docker compose down *": {"docker-compose down"},
		"git push *": {"git push -f", "git-push -f"}, "make deploy *": {"gmake deploy", "make V=1 deploy"}, "python3 manage.py migrate *": {"manage.py migrate", "./manage.py migrate", "python manage.py migrate", "python3 -m manage migrate"}, "./scripts/deploy.sh *": {"scripts/deploy.sh", "sh scripts/deploy.sh"},
		"ssh prod *": {"ssh u@prod ls"}, "npx *": {"npm exec x"}, "docker rm *": {"docker container remove x"}, "kubectl delete namespace *": {"kubectl delete ns x"},
	} {
		p, _ := desk(t, ModeYolo, Layer{Rank: RankUser, Permissions: Permissions{Deny: []string{"run_command(" + rule + ")"}}})
		lines := map[string]string{}
		for _, c := range commands {
			for _, s := range []string{"ssh-agent ", "mytool ", "mytool run --env x -- ", "cmake -E time ", "tini -- ", "gosu ann ", "tmux new -d ", "tmux new-session -d -s x ", "screen -dm ", "doppler run -- ", "just --command ", "heroku run ", "yarn workspaces foreach exec "} {
				lines[s+c] = "ask"
			}
			for _, s := range []string{"concurrently 'x' '", "hyperfine '", "vagrant ssh -c '", "cargo watch -s '"} {
				lines[s+c+"'"] = "ask"
			}
		}
		checkDeny(t, p, rule, lines)
	}
	p, _ := desk(t, ModeYolo, Layer{Rank: RankUser, Permissions: Permissions{Deny: []string{"run_command(npm test *)", "run_command(rm *)", "run_command(./scripts/deploy.sh *)", "run_command(make deploy *)", "run_command(id *)", "run_command(git push *)"}}})
	checkDeny(t, p, "several", map[string]string{
		"ssh-agent npm run lint": "", "mytool make test": "", "mytool deploy": "", "tmux ls": "", "tmux kill-session -t x": "", "tmux new -d npm run dev": "", "cargo run -- x": "", "yarn workspaces foreach run test": "", "shellcheck scripts/deploy.sh": "", "prettier -w scripts/deploy.sh": "", "mytool t": "", "doppler run -- npm start": "",
		"mytool other/build.sh": "", "heroku run rails console": "", "screen -dm npm start": "", "vagrant ssh -c 'uname -a'": "", "cargo watch -x test": "", "mytool src/x.py": "", "ls -id": "", "grep -rid x src": "",
		"script -qcid /dev/null": "deny", "alias x=git-push": "deny",
	})
}
