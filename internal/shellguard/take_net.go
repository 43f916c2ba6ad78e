package shellguard

import "strings"

// takeNet: programs that talk to other machines. Left out is whatever reads a
// file into a request, writes one from an answer, or goes another way than the
// address says: -o -O -T -K -F with a file, --netrc-file, --cacert, --hsts,
// --alt-svc, -c, --trace, --dump-header, --stderr, --etag-save, --unix-socket,
// --proxy, --resolve, --connect-to …
func takeNet(key string) (form, bool) {
	f := form{most: -1}
	switch key {
	case "curl":
		f.short, f.shortArg, f.check = "sSfLiIvgGkN0146#", "XHdmAeubwFo", checkCurl
		f.long = "silent show-error fail fail-with-body fail-early location include head verbose get insecure no-buffer compressed http1.0 http1.1 http2 ipv4 ipv6 tlsv1.2 tlsv1.3 progress-bar no-progress-meter globoff path-as-is raw styled-output no-styled-output no-keepalive parallel " +
			"request= header= data= data-raw= data-ascii= data-binary= data-urlencode= json= url-query= form-string= form= max-time= connect-timeout= retry= retry-delay= retry-max-time= retry-connrefused user-agent= referer= user= cookie= write-out= url= max-redirs= range= oauth2-bearer= limit-rate= output= speed-time= speed-limit= keepalive-time="
	case "wget":
		f.short, f.shortArg, f.check = "qSvd46", "OtTUw", checkWget
		f.long = "quiet no-verbose verbose spider server-response timeout= tries= user-agent= header= no-check-certificate max-redirect= wait= waitretry= method= output-document= show-progress compression= inet4-only inet6-only"
	case "http", "https", "xh", "xhs":
		f.short, f.shortArg, f.long = "bhvjf", "p", "body headers verbose json form print= follow timeout= check-status ignore-stdin pretty= style="
	case "gh pr list", "gh pr view", "gh pr status", "gh pr checks", "gh pr diff", "gh issue list", "gh issue view", "gh issue status", "gh run list", "gh run view", "gh run watch", "gh repo view", "gh repo list", "gh release list", "gh release view", "gh workflow list", "gh workflow view", "gh label list", "gh search issues", "gh search prs", "gh search repos", "gh search code":
		f.short, f.shortArg = "c", "LsAlSqBHbRjt"
		f.long = "limit= state= author= label= search= json= jq= template= repo= branch= base= head= assignee= comments log log-failed exit-status name-only patch color= workflow= status= user= event= job= attempt= verbose watch required interval="
	case "gh api":
		f.shortArg, f.long = "q", "jq= paginate cache= include silent slurp"
	case "gh auth status":
		f.long = "hostname="
	case "gh pr create", "gh issue create", "gh pr comment", "gh issue comment", "gh pr edit", "gh issue edit":
		f.short, f.shortArg, f.long = "df", "tbBHla", "title= body= base= head= draft fill label= assignee= reviewer= milestone= add-label= remove-label="
	default:
		return f, false
	}
	return f, true
}

// checkCurl: values that curl takes for the name of a file.
func checkCurl(u *usage) string {
	for _, o := range u.opts {
		bad := false
		switch o.name {
		case "d", "data", "data-ascii", "data-binary", "json", "H", "header", "w", "write-out":
			bad = strings.HasPrefix(o.value, "@") || strings.Contains(o.value, "%output{")
		case "data-urlencode", "url-query":
			at, eq := strings.IndexByte(o.value, '@'), strings.IndexByte(o.value, '=')
			bad = at >= 0 && (eq < 0 || at < eq)
		case "F", "form":
			_, value, ok := strings.Cut(o.value, "=")
			bad = !ok || strings.ContainsAny(value, "@<;")
		case "o", "output":
			bad = o.value != "/dev/null" && o.value != "-"
		case "b", "cookie":
			bad = !strings.Contains(o.value, "=")
		case "url":
			bad = refusesWords("curl", nil, []Arg{{Text: o.value}}) != ""
		case "u", "user":
			bad = !strings.Contains(o.value, ":") // it would ask for the password
		}
		if bad {
			return "the value " + Quote(o.value) + " of " + Quote(o.name) + " is a file to curl"
		}
	}
	return ""
}

// checkWget: the answer may go to standard output, not over any file.
func checkWget(u *usage) string {
	for _, o := range u.opts {
		if (o.name == "O" || o.name == "output-document") && o.value != "-" && o.value != "/dev/null" {
			return "it writes " + Quote(o.value)
		}
	}
	return ""
}

// takeCloud: what looks at containers, clusters and clouds. Not -f, --kubeconfig,
// --server, --token, --as, --context, --host, --chdir, --endpoint-url, --var-file:
// they read files, or ask another machine with the person's keys.
func takeCloud(key string) (form, bool) {
	f := form{most: -1}
	switch key {
	case "docker ps", "podman ps", "docker images", "podman images", "docker container ls", "docker image ls", "docker volume ls", "docker network ls", "docker system df", "docker compose ps", "docker compose images", "docker compose ls":
		f.short, f.shortArg, f.long = "aqlns", "f", "all quiet latest last= size no-trunc filter= format= digests services status= orphans"
		if strings.HasPrefix(key, "docker compose") {
			f.shortArg = "" // there -f is a file
		}
	case "docker logs", "podman logs", "docker compose logs":
		f.short, f.shortArg, f.long = "ft", "n", "follow tail= since= until= timestamps details no-color no-log-prefix"
	case "docker inspect", "podman inspect", "docker stats", "docker top", "docker port", "docker history", "docker version", "docker info", "docker diff", "docker search", "docker events":
		f.short, f.shortArg, f.long = "saq", "f", "format= size type= no-stream no-trunc all quiet human filter= limit= since= until="
	case "docker pull", "podman pull", "docker compose pull":
		f.short, f.long = "q", "quiet platform= ignore-pull-failures"
	case "docker build":
		f.short, f.shortArg, f.long = "q", "t", "tag= no-cache pull quiet target= platform= progress="
	case "docker compose up", "docker compose down", "docker compose build", "docker compose restart", "docker compose stop", "docker compose start":
		f.short, f.shortArg, f.long = "d", "t", "detach build no-build force-recreate no-recreate remove-orphans no-deps wait timeout= quiet-pull no-cache pull quiet no-start abort-on-container-exit scale="
	case "docker compose config", "docker compose version", "docker compose top", "docker compose port", "docker compose events", "docker compose stats", "docker compose rm", "docker compose kill", "docker compose create", "docker compose pause", "docker compose unpause", "docker compose wait":
		f.short, f.long = "qfs", "quiet services volumes images profiles hash= format= short force stop no-stream no-interpolate no-build build"
	case "docker start", "docker stop", "docker restart", "docker rm", "podman stop", "podman rm":
		f.shortArg, f.long = "t", "time= timeout="
	case "kubectl get", "kubectl describe", "kubectl top", "kubectl events", "kubectl api-resources", "kubectl api-versions", "kubectl explain", "kubectl version", "kubectl cluster-info", "kubectl auth can-i", "kubectl config current-context", "kubectl config get-contexts", "kubectl rollout status", "kubectl rollout history":
		f.short, f.shortArg, f.check = "Aw", "nolL", checkKubectl
		f.long = "all-namespaces namespace= selector= output= watch watch-only show-labels sort-by= no-headers field-selector= label-columns= ignore-not-found limit= chunk-size= show-kind show-events containers client short recursive api-group= namespaced request-timeout= revision= timeout= for= types= verbs="
	case "kubectl logs":
		f.short, f.shortArg, f.long = "fp", "ncl", "follow previous namespace= container= selector= tail= since= since-time= timestamps all-containers prefix max-log-requests= limit-bytes="
	case "helm list", "helm ls", "helm status", "helm get", "helm history", "helm version", "helm lint", "helm search":
		f.short, f.shortArg, f.long = "aAq", "no", "all all-namespaces namespace= output= short max= revision= filter= deployed failed strict"
	case "terraform plan", "terraform validate", "terraform fmt", "terraform show", "terraform version", "terraform state list", "terraform workspace list", "tofu plan", "tofu validate", "tofu fmt":
		f.dash = "no-color json input= lock= lock-timeout= refresh= compact-warnings detailed-exitcode destroy parallelism= target= check diff recursive list="
	case "terraform providers": // mirror and lock write
		f.most, f.names, f.check = 0, true, noOperands
	case "aws s3 ls", "aws sts get-caller-identity", "aws configure list":
		f.long = "region= output= query= profile= max-items= page-size= no-cli-pager no-paginate recursive human-readable summarize"
	default:
		return f, false
	}
	return f, true
}

// noOperands is for subcommands that are harmless only alone.
func noOperands(u *usage) string {
	if len(u.operands) > 0 {
		return Quote(u.operands[0].Text) + " may do more than look"
	}
	return ""
}

// checkKubectl: some formats are read from a file.
func checkKubectl(u *usage) string {
	for _, o := range u.opts {
		if o.name != "o" && o.name != "output" {
			continue
		}
		switch kind, _, _ := strings.Cut(o.value, "="); kind {
		case "json", "yaml", "wide", "name", "jsonpath", "jsonpath-as-json", "custom-columns", "go-template", "template":
		default:
			return "its format " + Quote(o.value) + " may be a file"
		}
	}
	return ""
}
