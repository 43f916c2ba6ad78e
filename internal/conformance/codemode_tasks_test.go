package conformance

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// deed is a kind of task: what a person asks for, what a model would search for, and the decisions that lead to the answer, as a program.
// A model that calls tools one by one takes the same decisions, and what stands in one parallel it calls at once.
type deed struct {
	name    string
	ask     string // with %v for what it is about
	queries []string
	code    string // with input
	about   []any
	want    func(f *forge, about any) any // from what the forge has, not from its answers
}

// task is one of a kind.
type task struct {
	deed
	input any
}

// otherWords is what an agent searches for next that has not found a tool by its first words. Who needs it pays for the turn.
func otherWords(tool string) string {
	return map[string]string{"repos_get": "get one repository by owner and name"}[tool]
}

func (t task) request() string { return strings.ReplaceAll(t.ask, "%v", fmt.Sprint(t.input)) }

func codeTasks() []task {
	var all []task
	for _, d := range append(lookingDeeds(), append(gatheringDeeds(), changingDeeds()...)...) {
		for _, a := range d.about {
			all = append(all, task{d, a})
		}
	}
	return all
}

func repoNames() []any { return []any{"api", "cli", "data"} }

func openIssues(r *forgeRepo) []*forgeIssue {
	return slices.DeleteFunc(slices.Clone(r.issues), func(i *forgeIssue) bool { return i.state != "open" })
}

// lookingDeeds take one call, or a short chain of small ones.
func lookingDeeds() []deed {
	return []deed{
		{
			"title of an issue", "What is the title of issue %v of acme/web?", []string{"get an issue"},
			`tools["issues_get"]({owner: "acme", repo: "web", issue_number: input}).title`, []any{3, 8, 20},
			func(f *forge, about any) any { return f.repo("web").issue(fmt.Sprint(about)).title },
		},
		{
			"kilometres", "How many metres are %v km?", []string{"convert a unit"},
			`tools.unit_convert({value: input, from_unit: "km", to_unit: "m"}).result`, []any{3, 12, 42},
			func(_ *forge, about any) any { return 1000 * about.(int) },
		},
		{
			"a product", "What is %v?", []string{"evaluate an expression"},
			`tools.evaluate_expression({expression: input}).result`, []any{"17 * 23", "2 ** 10", "99 - 100"},
			func(_ *forge, about any) any {
				return map[string]int{"17 * 23": 391, "2 ** 10": 1024, "99 - 100": -1}[about.(string)]
			},
		},
		{
			"default branch", "What is the default branch of acme/%v?", []string{"get a repository"},
			`tools["repos_get"]({owner: "acme", repo: input}).default_branch`, repoNames(),
			func(*forge, any) any { return "main" },
		},
		{
			"company of a user", "Where does the user %v work?", []string{"get a user by name"},
			`tools["users_get-by-username"]({username: input}).company`, []any{"ann", "cem", "eve"},
			func(_ *forge, about any) any {
				if c := company(about.(string)); c != "" {
					return c
				}
				return nil
			},
		},
		{
			"languages", "Which languages is acme/%v written in?", []string{"languages of a repository"},
			`Object.keys(tools["repos_list-languages"]({owner: "acme", repo: input})).sort()`, repoNames(),
			func(f *forge, about any) any { return slices.Sorted(maps.Keys(f.repo(about.(string)).languages)) },
		},
		{
			"company of a reviewer", "Where does the first reviewer of the first open pull request of acme/%v that has a review work?", []string{"list pull requests", "list reviews of a pull request", "get a user by name"},
			`for (const p of tools["pulls_list"]({owner: "acme", repo: input, state: "open"}).result) {
  const reviews = tools["pulls_list-reviews"]({owner: "acme", repo: input, pull_number: p.number}).result
  if (reviews.length) return tools["users_get-by-username"]({username: reviews[0].user.login}).company
}
return null`, repoNames(),
			func(f *forge, about any) any {
				for _, p := range f.repo(about.(string)).pulls {
					if len(p.reviews) > 0 {
						if c := company(p.reviews[0]); c != "" {
							return c
						}
						return nil
					}
				}
				return nil
			},
		},
		{
			"stars", "How many stars do the repositories of acme have together, if those with fewer than %v do not count?", []string{"list the repositories of an organization"},
			`tools["repos_list-for-org"]({org: "acme", per_page: 100}).result.filter(r => r.stargazers_count >= input).reduce((n, r) => n + r.stargazers_count, 0)`, []any{0, 40, 80},
			func(f *forge, about any) any {
				n := 0
				for _, r := range f.repos {
					if r.stars >= about.(int) {
						n += r.stars
					}
				}
				return n
			},
		},
		{
			"issues by label", "How many open issues of acme/%v are there with each label?", []string{"list the issues of a repository"},
			`const count = {}
for (const i of tools["issues_list-for-repo"]({owner: "acme", repo: input, state: "open", per_page: 100}).result)
  for (const l of i.labels) count[l.name] = (count[l.name] ?? 0) + 1
return count`, repoNames(),
			func(f *forge, about any) any {
				count := map[string]int{}
				for _, i := range openIssues(f.repo(about.(string))) {
					for _, l := range i.labels {
						count[l]++
					}
				}
				return count
			},
		},
		{
			"oldest without assignee", "Which is the oldest open issue of acme/%v that nobody is assigned to?", []string{"list the issues of a repository"},
			`const free = tools["issues_list-for-repo"]({owner: "acme", repo: input, state: "open", sort: "created", direction: "asc", per_page: 100}).result.filter(i => !i.assignee)
free.sort((a, b) => a.created_at < b.created_at ? -1 : 1)
return free[0].number`, repoNames(),
			func(f *forge, about any) any {
				for _, i := range openIssues(f.repo(about.(string))) {
					if i.assignee == "" {
						return i.number
					}
				}
				return nil
			},
		},
		{
			"busiest author", "Who has written most issues, open or closed, of acme/%v? Of several the first by name.", []string{"list the issues of a repository"},
			`const count = {}
for (const i of tools["issues_list-for-repo"]({owner: "acme", repo: input, state: "all", per_page: 100}).result) count[i.user.login] = (count[i.user.login] ?? 0) + 1
return Object.entries(count).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))[0]`, repoNames(),
			func(f *forge, about any) any {
				count := map[string]int{}
				for _, i := range f.repo(about.(string)).issues {
					count[i.author]++
				}
				who := slices.SortedFunc(maps.Keys(count), func(a, b string) int { return cmp.Or(count[b]-count[a], strings.Compare(a, b)) })[0]
				return []any{who, count[who]}
			},
		},
	}
}

// gatheringDeeds ask many things of the same kind.
func gatheringDeeds() []deed {
	return []deed{
		{
			"label everywhere", "How many open issues labelled %v does each repository of acme have?", []string{"list the repositories of an organization", "list the issues of a repository"},
			`const repos = tools["repos_list-for-org"]({org: "acme", per_page: 100}).result
const lists = parallel(repos.map(r => () => tools["issues_list-for-repo"]({owner: "acme", repo: r.name, state: "open", labels: input, per_page: 100}).result))
return Object.fromEntries(repos.map((r, i) => [r.name, lists[i].length]))`, []any{"bug", "security", "docs"},
			func(f *forge, about any) any {
				out := map[string]int{}
				for _, r := range f.repos {
					out[r.name] = 0
					for _, i := range openIssues(r) {
						if slices.Contains(i.labels, about.(string)) {
							out[r.name]++
						}
					}
				}
				return out
			},
		},
		{
			"no review yet", "Which open pull requests of acme/%v has nobody reviewed?", []string{"list pull requests", "list reviews of a pull request"},
			`const pulls = tools["pulls_list"]({owner: "acme", repo: input, state: "open", per_page: 100}).result
const reviews = parallel(pulls.map(p => () => tools["pulls_list-reviews"]({owner: "acme", repo: input, pull_number: p.number}).result))
return pulls.filter((_, i) => reviews[i].length === 0).map(p => p.number)`, repoNames(),
			func(f *forge, about any) any {
				out := []int{}
				for _, p := range f.repo(about.(string)).pulls {
					if len(p.reviews) == 0 {
						out = append(out, p.number)
					}
				}
				return out
			},
		},
		{
			"files of two", "Which files do more than one of the open pull requests of acme/%v change?", []string{"list pull requests", "list the files of a pull request"},
			`const pulls = tools["pulls_list"]({owner: "acme", repo: input, state: "open", per_page: 100}).result
const seen = {}
for (const files of parallel(pulls.map(p => () => tools["pulls_list-files"]({owner: "acme", repo: input, pull_number: p.number, per_page: 100}).result)))
  for (const name of new Set(files.map(f => f.filename))) seen[name] = (seen[name] ?? 0) + 1
return Object.keys(seen).filter(n => seen[n] > 1).sort()`, repoNames(),
			func(f *forge, about any) any {
				seen := map[string]int{}
				for _, p := range f.repo(about.(string)).pulls {
					for _, name := range slices.Compact(slices.Sorted(slices.Values(p.files))) {
						seen[name]++
					}
				}
				out := []string{}
				for _, n := range slices.Sorted(maps.Keys(seen)) {
					if seen[n] > 1 {
						out = append(out, n)
					}
				}
				return out
			},
		},
		{
			"latest releases", "What is the latest release of each repository of acme with at least %v stars?", []string{"list the repositories of an organization", "list releases"},
			`const repos = tools["repos_list-for-org"]({org: "acme", per_page: 100}).result.filter(r => r.stargazers_count >= input)
const lists = parallel(repos.map(r => () => tools["repos_list-releases"]({owner: "acme", repo: r.name, per_page: 1}).result))
return repos.map((r, i) => r.name + " " + lists[i][0].tag_name)`, []any{0, 30, 60},
			func(f *forge, about any) any {
				out := []string{}
				for _, r := range f.repos {
					if r.stars >= about.(int) {
						out = append(out, r.name+" "+r.releases[0])
					}
				}
				return out
			},
		},
		{
			"unprotected branches", "Which branches of acme are not protected, in repositories with at least %v stars?", []string{"list the repositories of an organization", "list branches"},
			`const repos = tools["repos_list-for-org"]({org: "acme", per_page: 100}).result.filter(r => r.stargazers_count >= input)
const lists = parallel(repos.map(r => () => tools["repos_list-branches"]({owner: "acme", repo: r.name, per_page: 100}).result))
return repos.flatMap((r, i) => lists[i].filter(b => !b.protected).map(b => r.name + "/" + b.name))`, []any{0, 30, 60},
			func(f *forge, about any) any {
				out := []string{}
				for _, r := range f.repos {
					for _, b := range slices.Sorted(maps.Keys(r.branches)) {
						if r.stars >= about.(int) && !r.branches[b] {
							out = append(out, r.name+"/"+b)
						}
					}
				}
				return out
			},
		},
		{
			"bytes of a language", "How many bytes of %v are there in all repositories of acme?", []string{"list the repositories of an organization", "languages of a repository"},
			`const repos = tools["repos_list-for-org"]({org: "acme", per_page: 100}).result
return parallel(repos.map(r => () => tools["repos_list-languages"]({owner: "acme", repo: r.name}))).reduce((n, l) => n + (l[input] ?? 0), 0)`, []any{"Go", "Shell", "Python"},
			func(f *forge, about any) any {
				n := 0
				for _, r := range f.repos {
					n += r.languages[about.(string)]
				}
				return n
			},
		},
		{
			"overdue", "Which milestones of acme are due before %v?", []string{"list the repositories of an organization", "list milestones"},
			`const repos = tools["repos_list-for-org"]({org: "acme", per_page: 100}).result
const lists = parallel(repos.map(r => () => tools["issues_list-milestones"]({owner: "acme", repo: r.name, state: "open"}).result))
return repos.flatMap((r, i) => lists[i].filter(m => m.due_on < input).map(m => r.name + " " + m.title))`, []any{"2026-05-01", "2026-07-15", "2026-12-31"},
			func(f *forge, about any) any {
				out := []string{}
				for _, r := range f.repos {
					for _, m := range slices.Sorted(maps.Keys(r.due)) {
						if r.due[m] < about.(string) {
							out = append(out, r.name+" "+m)
						}
					}
				}
				return out
			},
		},
		{
			"members of a company", "Which members of acme say that they work at %v?", []string{"members of an organization", "get a user by name"},
			`const members = tools["orgs_list-members"]({org: "acme", per_page: 100}).result
return parallel(members.map(m => () => tools["users_get-by-username"]({username: m.login}))).filter(u => (u.company ?? "") === input).map(u => u.login)`, []any{"Acme", "Globex", ""},
			func(_ *forge, about any) any {
				out := []string{}
				for _, p := range forgePeople() {
					if company(p) == about.(string) {
						out = append(out, p)
					}
				}
				return out
			},
		},
		{
			"who talks most", "Who has written most comments on the open issues of acme/%v? Of several the first by name.", []string{"list the issues of a repository", "comments of an issue"},
			`const issues = tools["issues_list-for-repo"]({owner: "acme", repo: input, state: "open", per_page: 100}).result.filter(i => i.comments > 0)
const count = {}
for (const list of parallel(issues.map(i => () => tools["issues_list-comments"]({owner: "acme", repo: input, issue_number: i.number}).result)))
  for (const c of list) count[c.user.login] = (count[c.user.login] ?? 0) + 1
return Object.entries(count).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))[0]`, repoNames(),
			func(f *forge, about any) any {
				count := map[string]int{}
				for _, i := range openIssues(f.repo(about.(string))) {
					for _, c := range i.comments {
						count[c]++
					}
				}
				who := slices.SortedFunc(maps.Keys(count), func(a, b string) int { return cmp.Or(count[b]-count[a], strings.Compare(a, b)) })[0]
				return []any{who, count[who]}
			},
		},
	}
}

// changingDeeds do something.
func changingDeeds() []deed {
	return []deed{
		{
			"new issue", "Open an issue with the title \"%v\" in acme/docs.", []string{"create an issue"},
			`tools["issues_create"]({owner: "acme", repo: "docs", title: input}).number`, []any{"Login fails", "Typo on the first page", "Broken link"},
			func(f *forge, _ any) any { return len(f.repo("docs").issues) + 1 },
		},
		{
			"label what has none", "Put the label triage on every open issue of acme/%v that has no label, and say which they were.", []string{"list the issues of a repository", "add labels to an issue"},
			`const bare = tools["issues_list-for-repo"]({owner: "acme", repo: input, state: "open", per_page: 100}).result.filter(i => i.labels.length === 0)
parallel(bare.map(i => () => tools["issues_add-labels"]({owner: "acme", repo: input, issue_number: i.number, body: {labels: ["triage"]}})))
return bare.map(i => i.number)`, repoNames(),
			func(f *forge, about any) any {
				out := []int{}
				for _, i := range openIssues(f.repo(about.(string))) {
					if len(i.labels) == 0 {
						out = append(out, i.number)
					}
				}
				slices.Reverse(out)
				return out
			},
		},
		{
			"close what nobody wants", "Close the open issues of acme/%v that are labelled wontfix, each with a comment that says so, and say how many they were.", []string{"list the issues of a repository", "comment on an issue", "update an issue"},
			`const list = tools["issues_list-for-repo"]({owner: "acme", repo: input, state: "open", labels: "wontfix", per_page: 100}).result
for (const i of list) {
  tools["issues_create-comment"]({owner: "acme", repo: input, issue_number: i.number, body: "Closed, because nobody will do this."})
  tools["issues_update"]({owner: "acme", repo: input, issue_number: i.number, state: "closed"})
}
return list.length`, repoNames(),
			func(f *forge, about any) any {
				n := 0
				for _, i := range openIssues(f.repo(about.(string))) {
					if slices.Contains(i.labels, "wontfix") {
						n++
					}
				}
				return n
			},
		},
	}
}
