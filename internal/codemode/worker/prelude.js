// What scripts find: tools, search, describe, input, log and parallel. It has no rights of its own, so a script that
// changes it harms only itself.
(function (ask, start, wait, logLine, done, fail, most, mostLines) {
  'use strict';
  const { parse, stringify } = JSON;
  const Err = Error, Str = String, isArray = Array.isArray;
  const defineProperty = Object.defineProperty, freeze = Object.freeze, all = Promise.all.bind(Promise);
  const then = Promise.prototype.then, apply = Reflect.apply;

  // The calls of parallel that is innermost at this moment; null outside of any.
  let group = null;

  function text(value) {
    if (typeof value === 'string') return value;
    if (value instanceof Err) return Str(value.name) + ': ' + Str(value.message);
    try {
      const t = stringify(value, (k, v) => (typeof v === 'bigint' ? Str(v) : v instanceof Map ? [...v] : v instanceof Set ? [...v] : v));
      return t === undefined ? Str(value) : t;
    } catch (e) { return Str(value); }
  }

  function run(g) {
    const i = g.next++;
    const outer = group;
    group = g;
    g.depth++;
    try {
      const f = g.list[i];
      g.results[i] = typeof f === 'function' ? f() : f;
    } catch (e) {
      g.errors[i] = e;
      g.failed = true;
    } finally {
      g.depth--;
      group = outer;
    }
  }

  const room = (g) => g.depth < most && g.next < g.list.length;

  // invoke makes a call. While it is under way, other functions of the same parallel are started on top of it.
  function invoke(kind, name, body) {
    const g = group;
    let got;
    if (g !== null && room(g)) {
      const id = start(kind, name, body);
      while (room(g)) run(g);
      got = wait(id);
    } else got = ask(kind, name, body);
    if (got[0] === '+') return got.length > 1 ? parse(got.slice(1)) : null;
    const f = parse(got.slice(1));
    const e = new Err(f.message);
    e.name = 'ToolError';
    e.code = f.code;
    e.tool = name;
    throw e;
  }

  function argsOf(name, list) {
    if (list.length > 1) throw new TypeError('tools.' + name + ' takes one object of named arguments, such as tools.' + name + '({key: value})');
    const args = list.length === 0 || list[0] === undefined ? {} : list[0];
    if (args === null || typeof args !== 'object' || isArray(args)) throw new TypeError('tools.' + name + ' takes one object of named arguments, such as tools.' + name + '({key: value})');
    const body = stringify(args);
    if (body === undefined) throw new TypeError('the arguments of tools.' + name + ' cannot be written as JSON');
    return body;
  }

  const known = new Map();
  const tools = new Proxy(freeze(Object.create(null)), {
    get(_, name) {
      if (typeof name !== 'string' || name === 'then' || name === 'toJSON') return undefined;
      let f = known.get(name);
      if (!f) {
        f = (...list) => invoke('call', name, argsOf(name, list));
        known.set(name, f);
      }
      return f;
    },
    has() { return true; },
    set() { throw new TypeError('tools cannot be changed'); },
    defineProperty() { throw new TypeError('tools cannot be changed'); },
    ownKeys() { throw new TypeError('tools cannot be listed: use search(query)'); },
  });

  function parallel(list) {
    if (!isArray(list)) throw new TypeError('parallel takes a list of functions, such as parallel([() => tools.a(), () => tools.b()])');
    const g = { list, next: 0, depth: 0, results: new Array(list.length), errors: [], failed: false };
    while (g.next < list.length) run(g);
    const raise = (results) => {
      for (let i = 0; i < list.length; i++) {
        if (i in g.errors) {
          const e = g.errors[i];
          if (e !== null && typeof e === 'object') try { e.results = results; } catch (_) { /* it is frozen */ }
          throw e;
        }
      }
    };
    if (g.results.some((r) => r !== null && typeof r === 'object' && typeof r.then === 'function')) {
      return all(g.results).then((results) => { raise(results); return results; });
    }
    if (g.failed) raise(g.results);
    return g.results;
  }

  let lines = 0; // more than the host keeps are only counted
  const log = (...list) => { if (++lines <= mostLines) logLine(list.map(text).join(' ')); };
  const lost = () => (lines > mostLines ? lines - mostLines : 0);
  const give = (name, value) => defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: true });
  give('tools', tools);
  give('search', (query) => invoke('search', Str(query), ''));
  give('describe', (name) => invoke('describe', Str(name), ''));
  give('log', log);
  give('parallel', parallel);
  give('console', { log, info: log, warn: log, error: log, debug: log });

  // The end of a script: its value, or what it threw.
  const told = (e) => {
    try { tell(e); } catch (_) { fail('Error', '', 'the script threw something that cannot be shown', '', lost()); }
  };
  const tell = (e) => {
    if (e !== null && typeof e === 'object') {
      const part = (k) => { try { return e[k] === undefined ? '' : Str(e[k]); } catch (_) { return ''; } };
      const message = part('message');
      fail(part('name') || 'Error', part('code'), message || text(e), part('stack'), lost());
    } else fail('', '', 'the script threw ' + text(e) + (e === null ? ', or was out of memory' : ''), '', lost());
  };
  return (inputText) => {
    give('input', inputText === '' ? null : parse(inputText));
    return finish;
  };
  function finish(promise, wrapped) {
    const after = (p, f) => apply(then, p, [f]);
    const ended = after(after(promise, (got) => (wrapped ? got : got.value)), (value) => {
      let body;
      try {
        body = stringify(value, (k, v) => (v instanceof Map ? Object.fromEntries(v) : v instanceof Set ? [...v] : v));
      } catch (e) {
        if (e && e.message === undefined) throw e;
        fail('TypeError', '', 'the value of the script cannot be written as JSON: ' + (e && e.message), '', lost());
        return;
      }
      done(body === undefined ? 'null' : body, lost());
    });
    apply(then, ended, [undefined, told]);
  }
})
