package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// object is a table, an index, a trigger or a view. The entries are as good as
// the tables they stand in: a trigger can swallow them, and without its index
// a call can run twice.
type object struct{ kind, name, table, text string }

func objectRow(v []driver.Value) object {
	text := func(i int) string { // an index that the database makes by itself has no text
		s, _ := v[i].(string)
		return s
	}
	return object{text(0), text(1), text(2), text(3)}
}

// wantedObjects gives what the migrations make, by making it in a blank database:
// only the database itself knows how it keeps the text of a definition.
func wantedObjects(ctx context.Context, drv Driver) (list []object, err error) {
	known, err := migrations(drv.Migrations)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(drv.Blank)
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1) // another connection would have another blank database
	if _, err := db.ExecContext(ctx, makeVersionTable); err != nil {
		return nil, fmt.Errorf("making the schema: %w", err)
	}
	for _, m := range known {
		if _, err := db.ExecContext(ctx, m.text); err != nil {
			return nil, fmt.Errorf("making the schema: migration %s: %w", m.name, err)
		}
	}
	return objects(ctx, db, drv)
}

func objects(ctx context.Context, q querier, drv Driver) ([]object, error) {
	return rowsOf(func(fn func([]driver.Value) error) error { return eachRow(ctx, q, drv.Objects, nil, fn) }, objectRow)
}

// alterations says how what is there differs from what should be.
func alterations(have, want []object) (list []string) {
	same := func(o object) func(object) bool {
		return func(x object) bool { return x.kind == o.kind && x.name == o.name }
	}
	for _, o := range have {
		i := slices.IndexFunc(want, same(o))
		switch {
		case i < 0 && o.table != o.name:
			list = append(list, fmt.Sprintf("the %s %s on %s is not the journal's", o.kind, o.name, o.table))
		case i < 0:
			list = append(list, fmt.Sprintf("the %s %s is not the journal's", o.kind, o.name))
		case want[i] != o:
			list = append(list, fmt.Sprintf("the %s %s is not as the journal made it", o.kind, o.name))
		}
	}
	for _, o := range want {
		if !slices.ContainsFunc(have, same(o)) {
			list = append(list, fmt.Sprintf("the %s %s is gone", o.kind, o.name))
		}
	}
	return list
}

// unaltered makes sure that the tables are those that the migrations make, and
// that nothing hangs on them. What is wrong is not mended: that would wipe out
// the traces of whoever did it.
func (w *writer) unaltered() error {
	have, err := rowsOf(func(fn func([]driver.Value) error) error { return w.runOnce(w.drv.Objects, fn) }, objectRow)
	if err != nil {
		return fmt.Errorf("reading the schema: %w", err)
	}
	if wrong := alterations(have, w.want); len(wrong) > 0 {
		return fmt.Errorf("%w: %s; nothing is written until that is undone", ErrAltered, strings.Join(wrong, "; "))
	}
	return nil
}

// checkLayout looks again if the schema has changed since.
func (w *writer) checkLayout() error {
	if w.layout.Stmt == nil {
		return nil
	}
	shape, err := w.layout.number()
	if err != nil {
		return fmt.Errorf("looking for changes of the schema: %w", err)
	}
	if shape == w.shape {
		return nil
	}
	if err := w.unaltered(); err != nil {
		return err
	}
	w.shape = shape
	return nil
}

// schema holds the version table, and all that is in the database, against
// what this program would have made.
func (v *verification) schema(ctx context.Context) error {
	known, err := migrations(v.reader.drv.Migrations)
	if err != nil {
		return err
	}
	want, err := wantedObjects(ctx, v.reader.drv)
	if err != nil {
		return err
	}
	there, err := objects(ctx, v.tx, v.reader.drv)
	if err != nil {
		return err
	}
	altered := alterations(there, want)
	for _, wrong := range altered {
		v.add(Finding{Kind: Schema, Detail: wrong})
	}
	have, err := versions(ctx, v.tx)
	var missing []migration
	if err == nil {
		missing, err = compare(have, known)
	}
	switch {
	case err != nil && ctx.Err() == nil:
		v.add(Finding{Kind: Schema, Detail: err.Error()})
	case len(missing) > 0 && len(altered) > 0:
		return errOlder()
	case len(missing) > 0:
		v.add(Finding{Kind: Schema, Detail: fmt.Sprintf("the version table does not name %s", missing[0].name)})
	}
	return nil
}

// errOlder says that the tables are those of an earlier program.
func errOlder() error {
	return fmt.Errorf("%w: it is older than this program; open it for writing once", ErrSchema)
}
