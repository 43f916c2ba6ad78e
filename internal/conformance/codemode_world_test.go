package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// forge is a made-up GitHub with one organisation. Its answers are the examples of GitHub's own document with our values put in, so
// that they are as long as real ones.
type forge struct {
	examples map[string]json.RawMessage // by method and path
	mu       sync.Mutex
	repos    []*forgeRepo
	calls    int
}

type forgeRepo struct {
	name      string
	stars     int
	issues    []*forgeIssue
	pulls     []forgePull
	releases  []string
	branches  map[string]bool // protected
	languages map[string]int
	due       map[string]string // of milestones
}

type forgeIssue struct {
	number   int
	title    string
	state    string
	labels   []string
	author   string
	assignee string
	created  string
	comments []string // their authors
}

type forgePull struct {
	number  int
	title   string
	draft   bool
	author  string
	reviews []string
	files   []string
}

const forgeOrg = "acme"

func forgePeople() []string { return []string{"ann", "bob", "cem", "dan", "eve", "fay", "gil"} }

// company is empty for some.
func company(person string) string {
	return map[string]string{"ann": "Acme", "bob": "Globex", "cem": "", "dan": "Acme", "eve": "Initech", "fay": "", "gil": "Acme"}[person]
}

func newForge(examples map[string]json.RawMessage) *forge {
	f := &forge{examples: examples}
	people, labels := forgePeople(), []string{"bug", "docs", "feature", "security", "wontfix"}
	for i, name := range []string{"api", "web", "docs", "cli", "infra", "data"} {
		r := &forgeRepo{name: name, stars: 17 * (i + 1), branches: map[string]bool{}, languages: map[string]int{}, due: map[string]string{}}
		for n := 1; n <= 14+7*i; n++ {
			is := &forgeIssue{number: n, title: fmt.Sprintf("%s: problem %d", name, n), state: "open", author: people[(n+i)%7], created: time.Date(2026, 1, 1+n*3-i, 8, 0, 0, 0, time.UTC).Format(time.RFC3339)}
			if n%3 == 0 {
				is.state = "closed"
			}
			if n%4 != 0 {
				is.assignee = people[(n*3+i)%7]
			}
			for j := range (n + i) % 3 {
				is.labels = append(is.labels, labels[(n+j*2)%5])
			}
			for j := range n % 5 {
				is.comments = append(is.comments, people[(n+j)%7])
			}
			r.issues = append(r.issues, is)
		}
		for n := range 4 + i {
			p := forgePull{number: 900 + n, title: fmt.Sprintf("Mend %s, part %d", name, n), draft: n%4 == 3, author: people[(n*2+i)%7]}
			for j := range (n + i) % 3 {
				p.reviews = append(p.reviews, people[(n+j+3)%7])
			}
			for j := range 2 + n%3 {
				p.files = append(p.files, fmt.Sprintf("pkg/part%d.go", (n*2+j*3)%7))
			}
			r.pulls = append(r.pulls, p)
		}
		for n := range 3 {
			r.releases = append(r.releases, fmt.Sprintf("v%d.%d.0", i, 9-n))
		}
		for n, b := range []string{"main", "next", "release"} {
			r.branches[b] = (n+i)%3 != 0
		}
		for n, l := range []string{"Go", "TypeScript", "Shell", "Python"} {
			r.languages[l] = (n+1)*1000*(i+1) - 900*n*n
		}
		r.due["first"], r.due["second"] = fmt.Sprintf("2026-0%d-01T00:00:00Z", i+3), "2027-01-01T00:00:00Z"
		f.repos = append(f.repos, r)
	}
	return f
}

func (f *forge) repo(name string) *forgeRepo {
	for _, r := range f.repos {
		if r.name == name {
			return r
		}
	}
	return nil
}

func (r *forgeRepo) issue(n string) *forgeIssue {
	for _, i := range r.issues {
		if strconv.Itoa(i.number) == n {
			return i
		}
	}
	return nil
}

// base is the example of an operation, or the first of a list.
func (f *forge) base(op string) map[string]any {
	var one map[string]any
	var many []map[string]any
	if json.Unmarshal(f.examples[op], &many) == nil && len(many) > 0 {
		return many[0]
	}
	if json.Unmarshal(f.examples[op], &one) != nil || one == nil {
		one = map[string]any{}
	}
	return one
}

type object = map[string]any

// over puts values into an example.
func over(base, values object) object {
	out := maps.Clone(base)
	for k, v := range values {
		inner, is := v.(object)
		old, was := out[k].(object)
		if is && was {
			v = over(old, inner)
		}
		out[k] = v
	}
	return out
}

func (f *forge) user(login string) object { return object{"login": login} }

func (f *forge) issueOf(i *forgeIssue) object {
	base := f.base("GET /repos/{owner}/{repo}/issues")
	labels := []any{}
	for _, l := range i.labels {
		labels = append(labels, object{"id": 1, "node_id": "x", "url": "https://forge.test/labels/" + l, "name": l, "color": "f29513", "default": false, "description": "What is " + l})
	}
	var assignee any
	if i.assignee != "" {
		assignee = over(base["user"].(object), f.user(i.assignee))
	}
	out := over(base, object{"number": i.number, "title": i.title, "state": i.state, "labels": labels, "comments": len(i.comments), "created_at": i.created, "user": f.user(i.author)})
	out["assignee"] = assignee
	delete(out, "pull_request")
	return out
}

func (f *forge) pullOf(p forgePull) object {
	return over(f.base("GET /repos/{owner}/{repo}/pulls"), object{"number": p.number, "title": p.title, "draft": p.draft, "state": "open", "user": f.user(p.author)})
}

func (f *forge) repoOf(r *forgeRepo) object {
	open := 0
	for _, i := range r.issues {
		if i.state == "open" {
			open++
		}
	}
	return over(f.base("GET /orgs/{org}/repos"), object{"name": r.name, "full_name": forgeOrg + "/" + r.name, "stargazers_count": r.stars, "open_issues_count": open, "default_branch": "main"})
}

// ServeHTTP answers.
func (f *forge) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	var body object
	_ = json.NewDecoder(req.Body).Decode(&body) // most have none
	answer := f.answer(req, strings.Split(strings.Trim(req.URL.Path, "/"), "/"), body)
	w.Header().Set("Content-Type", "application/json")
	if answer == nil {
		w.WriteHeader(http.StatusNotFound)
		answer = object{"message": "Not Found"}
	}
	_ = json.NewEncoder(w).Encode(answer) // the client would tell
}

func (f *forge) answer(req *http.Request, at []string, body object) any {
	switch {
	case len(at) == 3 && at[0] == "orgs" && at[2] == "repos":
		return page(req, f.repos, f.repoOf)
	case len(at) == 3 && at[0] == "orgs" && at[2] == "members":
		return page(req, forgePeople(), func(p string) object { return over(f.base("GET /orgs/{org}/members"), f.user(p)) })
	case len(at) == 2 && at[0] == "users":
		var c any
		if company(at[1]) != "" {
			c = company(at[1])
		}
		return over(f.base("GET /users/{username}"), object{"login": at[1], "company": c})
	case len(at) >= 3 && at[0] == "repos":
		if r := f.repo(at[2]); r != nil {
			return f.ofRepo(req, r, at[3:], body)
		}
	}
	return nil
}

func (f *forge) ofRepo(req *http.Request, r *forgeRepo, at []string, body object) any {
	query := req.URL.Query()
	switch what := strings.Join(at[:min(1, len(at))], ""); {
	case len(at) == 0:
		return f.repoOf(r)
	case what == "issues" && len(at) == 1 && req.Method == http.MethodPost:
		i := &forgeIssue{number: len(r.issues) + 1, title: fmt.Sprint(body["title"]), state: "open", author: "me"}
		r.issues = append(r.issues, i)
		return f.issueOf(i)
	case what == "issues" && len(at) == 1:
		var list []*forgeIssue
		for _, i := range r.issues {
			state := query.Get("state")
			if (state == "all" || i.state == state || state == "" && i.state == "open") && (query.Get("labels") == "" || slices.Contains(i.labels, query.Get("labels"))) {
				list = append(list, i)
			}
		}
		slices.Reverse(list) // newest first
		return page(req, list, f.issueOf)
	case what == "issues" && len(at) >= 2:
		if i := r.issue(at[1]); i != nil {
			return f.ofIssue(req, i, at[2:], body)
		}
	case what == "pulls" && len(at) == 1:
		return page(req, r.pulls, f.pullOf)
	case what == "pulls":
		for _, p := range r.pulls {
			if strconv.Itoa(p.number) == at[1] {
				return f.ofPull(req, p, at[2:])
			}
		}
	case what == "releases":
		return page(req, r.releases, func(v string) object {
			return over(f.base("GET /repos/{owner}/{repo}/releases"), object{"tag_name": v, "name": r.name + " " + v})
		})
	case what == "branches":
		return page(req, slices.Sorted(maps.Keys(r.branches)), func(b string) object {
			return over(f.base("GET /repos/{owner}/{repo}/branches"), object{"name": b, "protected": r.branches[b]})
		})
	case what == "languages":
		return r.languages
	case what == "milestones":
		return page(req, slices.Sorted(maps.Keys(r.due)), func(m string) object {
			return over(f.base("GET /repos/{owner}/{repo}/milestones"), object{"title": m, "due_on": r.due[m], "state": "open"})
		})
	}
	return nil
}

func (f *forge) ofIssue(req *http.Request, i *forgeIssue, at []string, body object) any {
	switch what := strings.Join(at, "/"); {
	case what == "" && req.Method == http.MethodPatch:
		if s, ok := body["state"].(string); ok {
			i.state = s
		}
		return f.issueOf(i)
	case what == "":
		return f.issueOf(i)
	case what == "comments" && req.Method == http.MethodPost:
		i.comments = append(i.comments, "me")
		return over(f.base("GET /repos/{owner}/{repo}/issues/{issue_number}/comments"), object{"body": body["body"], "user": f.user("me")})
	case what == "comments":
		return page(req, i.comments, func(who string) object {
			return over(f.base("GET /repos/{owner}/{repo}/issues/{issue_number}/comments"), object{"user": f.user(who), "body": "I have seen this too, and it was hard to find out why."})
		})
	case what == "labels" && req.Method == http.MethodPost:
		list, _ := body["labels"].([]any)
		for _, l := range list {
			i.labels = append(i.labels, fmt.Sprint(l))
		}
		return f.issueOf(i)["labels"]
	}
	return nil
}

func (f *forge) ofPull(req *http.Request, p forgePull, at []string) any {
	switch strings.Join(at, "/") {
	case "":
		return over(f.base("GET /repos/{owner}/{repo}/pulls/{pull_number}"), f.pullOf(p))
	case "reviews":
		return page(req, p.reviews, func(who string) object {
			return over(f.base("GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews"), object{"user": f.user(who), "state": "APPROVED"})
		})
	case "files":
		return page(req, p.files, func(name string) object {
			return over(f.base("GET /repos/{owner}/{repo}/pulls/{pull_number}/files"), object{"filename": name})
		})
	}
	return nil
}

// page is a part of a list, as GitHub gives it: 30 unless more are asked for, at most 100.
func page[E any](req *http.Request, list []E, show func(E) object) []object {
	number := func(key string, usual int) int {
		if n, err := strconv.Atoi(req.URL.Query().Get(key)); err == nil {
			return n
		}
		return usual
	}
	size := min(100, number("per_page", 30))
	from := min(len(list), (number("page", 1)-1)*size)
	out := []object{}
	for _, e := range list[from:min(len(list), from+size)] {
		out = append(out, show(e))
	}
	return out
}

// examplesOf reads the examples of a document.
func examplesOf(t *testing.T, document []byte) map[string]json.RawMessage {
	t.Helper()
	type example struct {
		Value json.RawMessage
		Ref   string `json:"$ref"`
	}
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Content map[string]struct{ Examples map[string]example }
			}
		}
		Components struct{ Examples map[string]example }
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		t.Fatal(err)
	}
	out := map[string]json.RawMessage{}
	for path, ops := range doc.Paths {
		for method, op := range ops {
			examples := op.Responses["200"].Content["application/json"].Examples
			for _, name := range slices.Sorted(maps.Keys(examples)) {
				e := examples[name]
				if e.Ref != "" {
					e = doc.Components.Examples[e.Ref[strings.LastIndexByte(e.Ref, '/')+1:]]
				}
				if e.Value != nil {
					out[strings.ToUpper(method)+" "+path] = e.Value
				}
			}
		}
	}
	return out
}
