package store

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/internal/desk"
)

// deskTx is a transaction of the desk.
type deskTx struct {
	desk   *Desk
	query  func(text string, fn func([]driver.Value) error, args ...any) error
	writes bool
}

const questionColumns = `id, rev, seal, body`

func (t *deskTx) Question(id string) (q desk.Question, err error) {
	list, err := t.questions(`SELECT `+questionColumns+` FROM question WHERE id = $1`, []any{id}, desk.Filter{})
	return first(list, err, desk.ErrNotFound)
}

func (t *deskTx) Questions(f desk.Filter) ([]desk.Question, error) {
	where, args := deskWhere(f)
	text := `SELECT ` + questionColumns + ` FROM question` + where + ` ORDER BY rev`
	if f.Limit > 0 {
		args = append(args, int64(f.Limit))
		text += fmt.Sprintf(" LIMIT $%d", len(args))
	}
	return t.questions(text, args, f)
}

func (t *deskTx) questions(text string, args []any, f desk.Filter) (list []desk.Question, err error) {
	err = t.query(text, func(v []driver.Value) error {
		id, ok1 := v[0].(string)
		rev, ok2 := v[1].(int64)
		seal, ok3 := v[2].([]byte)
		body, ok4 := v[3].([]byte)
		if !ok1 || !ok2 || !ok3 || !ok4 || !t.desk.proven("question", id, rev, body, seal) {
			return nil
		}
		q := desk.Question{}
		if err := json.Unmarshal(body, &q); err != nil {
			return fmt.Errorf("question %s: %w", id, err)
		}
		// The columns are not sealed: what they say about the body must be so.
		if q.Rev = rev; q.ID == id && f.Picks(&q) {
			list = append(list, q)
		}
		return nil
	}, args...)
	if err != nil {
		return nil, fmt.Errorf("reading questions: %w", err)
	}
	return list, nil
}

func (t *deskTx) Count(f desk.Filter) (int, error) {
	where, args := deskWhere(f)
	n, err := t.number(`SELECT count(*) FROM question`+where, args...)
	return int(n), err
}

func (t *deskTx) number(text string, args ...any) (n int64, err error) {
	err = t.query(text, func(v []driver.Value) error {
		n = asInt(v[0])
		return nil
	}, args...)
	if err == nil && n < 0 {
		err = fmt.Errorf("%q gives no number", text)
	}
	return n, err
}

func deskWhere(f desk.Filter) (string, []any) {
	var parts []string
	var args []any
	add := func(condition string, arg any) {
		args = append(args, arg)
		parts = append(parts, fmt.Sprintf("%s $%d", condition, len(args)))
	}
	if f.After > 0 {
		add("rev >", f.After)
	}
	if f.Live {
		parts = append(parts, "live = 1")
	}
	for _, c := range []struct{ condition, value string }{
		{"state =", string(f.State)}, {"slot =", f.Slot}, {"alike =", f.Like}, {"subject =", f.Subject},
	} {
		if c.value != "" {
			add(c.condition, c.value)
		}
	}
	if !f.Before.IsZero() {
		add("asked <", f.Before.UnixNano())
	}
	if len(parts) == 0 {
		return "", nil
	}
	return " WHERE " + strings.Join(parts, " AND "), args
}

func (t *deskTx) PutQuestion(q desk.Question) error {
	if !t.writes {
		return errDeskReads
	}
	body, err := json.Marshal(q)
	if err != nil {
		return fmt.Errorf("writing question %s: %w", q.ID, err)
	}
	if err := t.query(`UPDATE clock SET rev = rev + 1`, nil); err != nil {
		return err
	}
	rev, err := t.Rev()
	if err != nil {
		return err
	}
	live := int64(0)
	if q.Live() {
		live = 1
	}
	return t.query(`INSERT INTO question (id, rev, state, live, slot, alike, subject, asked, seal, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (id) DO UPDATE SET rev = excluded.rev, state = excluded.state, live = excluded.live, slot = excluded.slot,
			alike = excluded.alike, subject = excluded.subject, asked = excluded.asked, seal = excluded.seal, body = excluded.body`,
		nil, q.ID, rev, string(q.State), live, q.Slot, q.Like, q.Caller.Subject, q.Asked.UnixNano(),
		t.desk.sealed("question", q.ID, rev, body), body)
}

func (t *deskTx) DropQuestion(id string) error {
	if !t.writes {
		return errDeskReads
	}
	return t.query(`DELETE FROM question WHERE id = $1`, nil, id)
}

func (t *deskTx) Rev() (int64, error) { return t.number(`SELECT max(rev) FROM clock`) }

func (t *deskTx) Grant(id string) (desk.Grant, error) {
	list, err := t.grants(desk.GrantFilter{}, ` WHERE id = $1`, id)
	return first(list, err, desk.ErrNotFound)
}

func (t *deskTx) Grants(f desk.GrantFilter) ([]desk.Grant, error) {
	switch {
	case f.Bound != "":
		return t.grants(f, ` WHERE bound = $1 AND arguments IN ($2, '')`, f.Bound, f.Arguments)
	case f.Subject != "":
		return t.grants(f, ` WHERE subject = $1`, f.Subject)
	}
	return t.grants(f, "")
}

func (t *deskTx) grants(f desk.GrantFilter, where string, args ...any) (list []desk.Grant, err error) {
	err = t.query(`SELECT id, seal, body FROM granted`+where+` ORDER BY at, id`, func(v []driver.Value) error {
		id, ok1 := v[0].(string)
		seal, ok2 := v[1].([]byte)
		body, ok3 := v[2].([]byte)
		if !ok1 || !ok2 || !ok3 || !t.desk.proven("granted", id, 0, body, seal) {
			return nil
		}
		g := desk.Grant{}
		if err := json.Unmarshal(body, &g); err != nil {
			return fmt.Errorf("grant %s: %w", id, err)
		}
		if g.ID == id && f.Picks(&g) {
			list = append(list, g)
		}
		return nil
	}, args...)
	if err != nil {
		return nil, fmt.Errorf("reading grants: %w", err)
	}
	return list, nil
}

func (t *deskTx) PutGrant(g desk.Grant) error {
	if !t.writes {
		return errDeskReads
	}
	body, err := json.Marshal(g)
	if err != nil {
		return fmt.Errorf("writing grant %s: %w", g.ID, err)
	}
	return t.query(`INSERT INTO granted (id, subject, bound, arguments, at, seal, body) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (id) DO UPDATE SET subject = excluded.subject, bound = excluded.bound, arguments = excluded.arguments,
			at = excluded.at, seal = excluded.seal, body = excluded.body`,
		nil, g.ID, g.Subject, g.Bound(), g.Arguments, g.At.UnixNano(), t.desk.sealed("granted", g.ID, 0, body), body)
}

func (t *deskTx) DropGrant(id string) error {
	if !t.writes {
		return errDeskReads
	}
	return t.query(`DELETE FROM granted WHERE id = $1`, nil, id)
}
