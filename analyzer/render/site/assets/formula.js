// Evaluates formulas as Python does: integers are BigInt, floats are doubles, a failing operation throws what Python
// would raise. The terms come from data/*.js; nothing of them is ever run as code.
"use strict";

var formula = (function () {
  class Raised extends Error {
    constructor(exception, deliberate) {
      super(exception);
      this.exception = exception;
      this.deliberate = deliberate;
    }
  }
  class Missing extends Error {
    constructor(name) {
      super(name);
      this.name_ = name;
    }
  }
  class Off {
    constructor(name) {
      this.name = name;
    }
  }
  class Atom {
    constructor(name) {
      this.name = name;
    }
  }

  const COMPARISONS = new Set(["in", "not in", "is", "is not", "<", "<=", ">", ">=", "==", "!="]);
  const SEQUENCES = new Set(["tuple", "concat", "sorted", "reversed", "unique", "split", "slice"]);
  const PASS_OFF = new Set(["upper", "lower", "strip", "str", "rank_min", "item"]);
  const REDUCTIONS = new Set(["len", "max of", "min of", "sum of", "product of", "any", "all"]);
  const BISECTIONS = new Set(["bisect_right", "bisect_left"]);
  const OF_NOTHING = { len: 0n, "sum of": 0n, "product of": 1n, any: false, all: true };
  const EXACT = 2n ** 53n;

  const fail = (exception) => {
    throw new Raised(exception, false);
  };
  const isInt = (value) => typeof value === "bigint" || typeof value === "boolean";
  const isNumber = (value) => isInt(value) || typeof value === "number";
  const toInt = (value) => (typeof value === "boolean" ? BigInt(value) : value);
  const abs = (value) => (value < 0n ? -value : value);

  function toFloat(value) {
    if (typeof value === "number") return value;
    const number = Number(toInt(value));
    return Number.isFinite(number) ? number : fail("OverflowError");
  }

  function truth(value) {
    if (value === null || value === false || value instanceof Off) return false;
    if (value === true || value instanceof Atom) return true;
    if (typeof value === "string" || Array.isArray(value)) return value.length > 0;
    return value != 0;
  }

  // --- numbers -------------------------------------------------------------------------

  function numbers(left, right) {
    if (!isNumber(left) || !isNumber(right)) fail("TypeError");
    return isInt(left) && isInt(right);
  }

  function floorDivide(left, right) {
    const quotient = left / right;
    return left % right !== 0n && left < 0n !== right < 0n ? quotient - 1n : quotient;
  }

  function floorDivideFloat(left, right) {
    let rest = left % right;
    let quotient = (left - rest) / right;
    if (rest) {
      if (right < 0 !== rest < 0) quotient -= 1;
    }
    if (!quotient) return left / right < 0 || Object.is(left / right, -0) ? -0 : 0;
    const floor = Math.floor(quotient);
    return quotient - floor > 0.5 ? floor + 1 : floor;
  }

  function moduloFloat(left, right) {
    const rest = left % right;
    if (!rest) return right < 0 ? -0 : 0;
    return right < 0 !== rest < 0 ? rest + right : rest;
  }

  // The double nearest to a ratio of integers.
  function divideInt(left, right) {
    const negative = left < 0n !== right < 0n;
    let over = abs(left);
    let under = abs(right);
    let result;
    if (over <= EXACT && under <= EXACT) {
      result = Number(over) / Number(under);
    } else {
      const shift = under.toString(2).length - over.toString(2).length + 66;
      if (shift > 0) over <<= BigInt(shift);
      else under <<= BigInt(-shift);
      const quotient = over / under;
      // What is left over only has to keep the quotient from looking like a tie.
      result = Number(over % under ? quotient | 1n : quotient);
      for (let rest = shift; rest !== 0; ) {
        const step = Math.max(-1000, Math.min(1000, rest));
        result = step > 0 ? result / 2 ** step : result * 2 ** -step;
        rest -= step;
      }
    }
    if (!Number.isFinite(result)) fail("OverflowError");
    return negative ? -result : result;
  }

  // A finite double as the integers of an exact fraction whose denominator is a power of two.
  function fraction(value) {
    const bits = new DataView(new ArrayBuffer(8));
    bits.setFloat64(0, value);
    const high = bits.getUint32(0);
    const exponent = (high >>> 20) & 0x7ff;
    let mantissa = (BigInt(high & 0xfffff) << 32n) | BigInt(bits.getUint32(4));
    if (exponent) mantissa |= 1n << 52n;
    const power = (exponent || 1) - 1075;
    const over = power > 0 ? mantissa << BigInt(power) : mantissa;
    return { over: high >>> 31 ? -over : over, under: power < 0 ? 1n << BigInt(-power) : 1n };
  }

  function roundHalfEven(over, under) {
    const floor = floorDivide(over, under);
    const twice = (over - floor * under) * 2n;
    if (twice > under || (twice === under && floor % 2n !== 0n)) return floor + 1n;
    return floor;
  }

  function finite(value) {
    if (Number.isNaN(value)) fail("ValueError");
    if (!Number.isFinite(value)) fail("OverflowError");
    return value;
  }

  function round(value, digits) {
    if (!isNumber(value)) fail("TypeError");
    if (isInt(value)) {
      if (digits === undefined || digits === null || digits >= 0n) return toInt(value);
      const step = 10n ** -toInt(digits);
      return roundHalfEven(toInt(value), step) * step;
    }
    if (digits === undefined || digits === null) {
      const exact = fraction(finite(value));
      return roundHalfEven(exact.over, exact.under);
    }
    if (!isInt(digits)) fail("TypeError");
    if (!Number.isFinite(value)) return value;
    const exact = fraction(value);
    const places = Number(toInt(digits));
    const scale = 10n ** BigInt(Math.abs(places));
    const rounded =
      places >= 0 ? roundHalfEven(exact.over * scale, exact.under) : roundHalfEven(exact.over, exact.under * scale);
    const result = Number(`${rounded}e${-places}`);
    return result === 0 && (value < 0 || Object.is(value, -0)) ? -0 : result;
  }

  function power(base, exponent) {
    if (numbers(base, exponent)) {
      const whole = toInt(exponent);
      if (whole >= 0n) return whole > 100000n ? fail("OverflowError") : toInt(base) ** whole;
      if (toInt(base) === 0n) fail("ZeroDivisionError");
    }
    const result = Math.pow(toFloat(base), toFloat(exponent));
    if (!Number.isFinite(result) && Number.isFinite(toFloat(base))) {
      fail(toFloat(base) === 0 ? "ZeroDivisionError" : "OverflowError");
    }
    return Number.isNaN(result) ? fail("TypeError") : result;
  }

  function toInteger(value) {
    if (isInt(value)) return toInt(value);
    if (typeof value === "number") return BigInt(Math.trunc(finite(value)));
    if (typeof value === "string") {
      const text = value.trim();
      return /^[+-]?\d+(_\d+)*$/.test(text) ? BigInt(text.replace(/[_+]/g, "")) : fail("ValueError");
    }
    return fail("TypeError");
  }

  function toReal(value) {
    if (isNumber(value)) return toFloat(value);
    if (typeof value !== "string") return fail("TypeError");
    return /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(value) ? Number(value) : fail("ValueError");
  }

  // --- comparisons ---------------------------------------------------------------------

  function equal(left, right) {
    if (isNumber(left) && isNumber(right)) return toComparable(left) == toComparable(right);
    if (Array.isArray(left) && Array.isArray(right)) {
      return left.length === right.length && left.every((item, index) => equal(item, right[index]));
    }
    if (left instanceof Atom && right instanceof Atom) return left.name === right.name;
    return left === right;
  }

  // Comparing a BigInt with a double is exact in JavaScript too.
  const toComparable = (value) => (typeof value === "boolean" ? BigInt(value) : value);

  function identical(left, right) {
    if (left === right) return true;
    if (left === null || right === null || typeof left !== typeof right) return false;
    return equal(left, right);
  }

  function less(left, right) {
    if (isNumber(left) && isNumber(right)) return toComparable(left) < toComparable(right);
    if (typeof left === "string" && typeof right === "string") return compareText(left, right) < 0;
    if (Array.isArray(left) && Array.isArray(right)) {
      for (let index = 0; index < Math.min(left.length, right.length); index++) {
        if (!equal(left[index], right[index])) return less(left[index], right[index]);
      }
      return left.length < right.length;
    }
    return fail("TypeError");
  }

  function compareText(left, right) {
    const first = Array.from(left, (char) => char.codePointAt(0));
    const second = Array.from(right, (char) => char.codePointAt(0));
    for (let index = 0; index < Math.min(first.length, second.length); index++) {
      if (first[index] !== second[index]) return first[index] - second[index];
    }
    return first.length - second.length;
  }

  function atMost(left, right) {
    if (isNumber(left) && isNumber(right)) return toComparable(left) <= toComparable(right);
    return less(left, right) || equal(left, right);
  }

  function contains(item, container) {
    if (typeof container === "string") {
      return typeof item === "string" ? container.includes(item) : fail("TypeError");
    }
    return Array.isArray(container) ? container.some((other) => equal(item, other)) : fail("TypeError");
  }

  // --- sequences and texts -------------------------------------------------------------

  function extreme(args, isBetter) {
    const items = args.length === 1 ? sequence(args[0]) : args;
    if (!items.length) fail("ValueError");
    return items.reduce((best, item) => (isBetter(item, best) ? item : best));
  }

  function sequence(value) {
    if (Array.isArray(value)) return value;
    return typeof value === "string" ? Array.from(value) : fail("TypeError");
  }

  function unique(items) {
    return items.filter((item, index) => items.findIndex((other) => equal(item, other)) === index);
  }

  function sorted(items) {
    const found = [];
    for (const item of items) {
      let place = found.length;
      while (place > 0 && less(item, found[place - 1])) place -= 1;
      found.splice(place, 0, item);
    }
    return found;
  }

  function item(container, index) {
    const items = sequence(container);
    if (!isInt(index)) fail("TypeError");
    const place = Number(toInt(index)) + (toInt(index) < 0n ? items.length : 0);
    return place >= 0 && place < items.length ? items[place] : fail("IndexError");
  }

  function text(value) {
    if (value === null) return "None";
    if (typeof value === "boolean") return value ? "True" : "False";
    if (typeof value === "number") return floatText(value);
    if (typeof value === "bigint" || typeof value === "string") return String(value);
    return value instanceof Atom ? value.name : fail("TypeError");
  }

  function floatText(value) {
    if (Number.isNaN(value)) return "nan";
    if (!Number.isFinite(value)) return value < 0 ? "-inf" : "inf";
    if (Object.is(value, -0)) return "-0.0";
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-4 || size >= 1e16)) {
      const [mantissa, exponent] = value.toExponential().split("e");
      return `${mantissa}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
    }
    return Number.isInteger(value) ? `${value}.0` : String(value);
  }

  const isOfType = (value, name) => {
    if (name === "str") return typeof value === "string";
    if (name === "bool") return typeof value === "boolean";
    if (name === "int") return isInt(value);
    return name === "float" && typeof value === "number";
  };
  const string = (value) => (typeof value === "string" ? value : fail("TypeError"));

  function edge(value, part, test) {
    string(value);
    const parts = Array.isArray(part) ? part : [part];
    return parts.some((one) => test(value, string(one)));
  }

  function bitLength(value) {
    return value ? BigInt(abs(value).toString(2).length) : 0n;
  }

  function gcd(left, right) {
    let first = abs(left);
    let second = abs(right);
    while (second) [first, second] = [second, first % second];
    return first;
  }

  const integers = (args) => args.map((value) => (isInt(value) ? toInt(value) : fail("TypeError")));

  function lcm(left, right) {
    return left && right ? (abs(left) / gcd(left, right)) * abs(right) : 0n;
  }

  const bits = (compute) => (left, right) =>
    isInt(left) && isInt(right) ? compute(toInt(left), toInt(right)) : fail("TypeError");

  const arithmetic = (whole, real) => (left, right) =>
    numbers(left, right) ? whole(toInt(left), toInt(right)) : real(toFloat(left), toFloat(right));

  const divisor = (value) => (value == 0 ? fail("ZeroDivisionError") : value);

  const addNumbers = arithmetic(
    (left, right) => left + right,
    (left, right) => left + right,
  );

  function add(left, right) {
    if (typeof left === "string" && typeof right === "string") return left + right;
    if (Array.isArray(left) && Array.isArray(right)) return left.concat(right);
    return addNumbers(left, right);
  }

  // `items[first:last:step]`
  function slice(items, first, last, step) {
    const by = step === null ? 1 : Number(toInt(step));
    if (by === 0) return fail("ValueError");
    const [low, high] = by > 0 ? [0, items.length] : [-1, items.length - 1];
    const bound = (value, otherwise) => {
      if (value === null) return otherwise;
      if (!isInt(value)) return fail("TypeError");
      const position = Number(toInt(value));
      return Math.min(Math.max(position < 0 ? position + items.length : position, low), high);
    };
    const [start, stop] = [bound(first, by > 0 ? low : high), bound(last, by > 0 ? high : low)];
    const found = [];
    for (let at = start; by > 0 ? at < stop : at > stop; at += by) found.push(items[at]);
    return found;
  }

  const OPERATORS = {
    not: (value) => !truth(value),
    in: contains,
    "not in": (left, right) => !contains(left, right),
    is: identical,
    "is not": (left, right) => !identical(left, right),
    "<": less,
    "<=": atMost,
    ">": (left, right) => less(right, left),
    ">=": (left, right) => atMost(right, left),
    "==": equal,
    "!=": (left, right) => !equal(left, right),
    "|": bits((left, right) => left | right),
    "^": bits((left, right) => left ^ right),
    "&": bits((left, right) => left & right),
    "<<": bits((left, right) => (right < 0n ? fail("ValueError") : left << right)),
    ">>": bits((left, right) => (right < 0n ? fail("ValueError") : left >> right)),
    "+": add,
    "-": arithmetic(
      (left, right) => left - right,
      (left, right) => left - right,
    ),
    "*": arithmetic(
      (left, right) => left * right,
      (left, right) => left * right,
    ),
    "/": arithmetic(
      (left, right) => divideInt(left, divisor(right)),
      (left, right) => left / divisor(right),
    ),
    "//": arithmetic(
      (left, right) => floorDivide(left, divisor(right)),
      (left, right) => floorDivideFloat(left, divisor(right)),
    ),
    "%": arithmetic(
      (left, right) => left - floorDivide(left, divisor(right)) * right,
      (left, right) => moduloFloat(left, divisor(right)),
    ),
    neg: (value) => (isNumber(value) ? -toInt(value) : fail("TypeError")),
    "**": power,
    int: toInteger,
    float: toReal,
    bool: truth,
    str: text,
    min: (...args) => extreme(args, (item, best) => less(item, best)),
    max: (...args) => extreme(args, (item, best) => less(best, item)),
    round,
    abs: (value) => (isNumber(value) ? (typeof value === "number" ? Math.abs(value) : abs(toInt(value))) : fail("TypeError")),
    ceil: (value) => (isInt(value) ? toInt(value) : BigInt(Math.ceil(finite(real(value))))),
    floor: (value) => (isInt(value) ? toInt(value) : BigInt(Math.floor(finite(real(value))))),
    gcd: (...args) => integers(args).reduce(gcd, 0n),
    lcm: (...args) => integers(args).reduce(lcm, 1n),
    bit_length: (value) => (isInt(value) ? bitLength(toInt(value)) : fail("TypeError")),
    len: (value) => BigInt(sequence(value).length),
    sum: (items) => sequence(items).reduce(addNumbers, 0n),
    concat: (...parts) => parts.flatMap(sequence),
    sorted: (items) => sorted(sequence(items)),
    reversed: (items) => sequence(items).slice().reverse(),
    unique: (items) => unique(sequence(items)),
    slice: (items, first, last, step) => slice(sequence(items), first, last, step),
    upper: (value) => string(value).toUpperCase(),
    lower: (value) => string(value).toLowerCase(),
    strip: (value) => string(value).trim(),
    split: (value, by) => (by === undefined ? string(value).trim().split(/\s+/).filter(Boolean) : string(value).split(by)),
    startswith: (value, part) => edge(value, part, (one, other) => one.startsWith(other)),
    endswith: (value, part) => edge(value, part, (one, other) => one.endsWith(other)),
    isinstance: (value, ...names) => names.some((name) => isOfType(value, name)),
    tuple: (...items) => items,
    item,
    rank_min: (value) => value,
    float32: (value) => Math.fround(toReal(value)),
  };

  const real = (value) => (typeof value === "number" ? value : fail("TypeError"));

  // Guards read an unset option as off; arithmetic cannot.
  function operateOff(op, values) {
    const off = values.find((value) => value instanceof Off);
    if (op === "is" || op === "==") {
      const other = values.find((value) => value !== off);
      return other === undefined || other === null || (other instanceof Off && other.name === off.name);
    }
    if (op === "is not" || op === "!=") return !operateOff("is", values);
    if (op === "not" || op === "not in") return true;
    if (COMPARISONS.has(op) || op === "bool" || op === "startswith" || op === "endswith" || op === "isinstance") return false;
    if (PASS_OFF.has(op) || SEQUENCES.has(op)) return off;
    throw new Missing(off.name);
  }

  // --- terms ---------------------------------------------------------------------------

  class Evaluation {
    constructor(nodes, lookup) {
      this.nodes = nodes;
      this.lookup = lookup;
      this.known = new Map();
    }

    value(index) {
      const passed = [];
      // A loop, because a chain of branches can be longer than calls may nest.
      while (this.nodes[index][0] === "?" && !this.known.has(index)) {
        passed.push(index);
        index = truth(this.value(this.nodes[index][1])) ? this.nodes[index][2] : this.nodes[index][3];
      }
      const value = this.known.has(index) ? this.known.get(index) : this.compute(index);
      for (const each of passed) this.known.set(each, value);
      return value;
    }

    compute(index) {
      const node = this.nodes[index];
      switch (node[0]) {
        case "c":
          return node[1];
        case "i":
          return BigInt(node[1]);
        case "f":
          return { inf: Infinity, "-inf": -Infinity, nan: NaN }[node[1]] ?? Number(node[1]);
        case "@":
          return new Atom(node[1]);
        case "!":
          throw new Raised(node[1], true);
        case "h":
          throw new Missing(node[1]);
        case "$":
          return this.lookup(node[1]);
        case "o":
          return this.opaque(index);
        default: {
          const value = this.apply(node[1], node.slice(2));
          this.known.set(index, value);
          return value;
        }
      }
    }

    apply(op, args) {
      if (op === "and" || op === "or") {
        for (const arg of args) if (truth(this.value(arg)) === (op === "or")) return op === "or";
        return op !== "or";
      }
      if (op === "present") {
        try {
          return !(this.value(args[0]) instanceof Off);
        } catch (error) {
          if (error instanceof Missing) return false;
          throw error;
        }
      }
      if (op === "tuple") return this.tuple(args);
      const values = args.map((arg) => this.value(arg));
      if (values.some((value) => value instanceof Off)) return operateOff(op, values);
      const operator = OPERATORS[op];
      return operator ? operator(...values) : fail("TypeError");
    }

    tuple(args) {
      const isMaybe = (arg) => this.nodes[arg][0] === "a" && this.nodes[arg][1] === "maybe";
      const guarded = args.some(isMaybe);
      const found = [];
      for (const arg of args) {
        if (!isMaybe(arg)) found.push(this.value(arg));
        else if (truth(this.value(this.nodes[arg][2]))) found.push(this.value(this.nodes[arg][3]));
      }
      return !guarded && found.some((value) => value instanceof Off) ? operateOff("tuple", found) : found;
    }

    opaque(index) {
      const [, name, ...args] = this.nodes[index];
      if (this.row && this.row.has(name)) return this.row.get(name);
      if (name === "each") return this.comprehension(args);
      if (BISECTIONS.has(name)) return this.bisected(name, args);
      if (name !== "range" && name !== "item" && !REDUCTIONS.has(name)) return new Off(name);
      const values = args.map((arg) => this.value(arg));
      const off = values.find((value) => value instanceof Off);
      if (off) return off;
      if (name === "range") return values.every(isInt) ? range(...values.map(toInt)) : new Off(name);
      const items = values[0];
      if (!Array.isArray(items) || !items.length) {
        return name in OF_NOTHING && Array.isArray(items) ? OF_NOTHING[name] : new Off(name);
      }
      switch (name) {
        case "item":
          return item(items, values[1]);
        case "len":
          return BigInt(items.length);
        case "max of":
          return OPERATORS.max(items);
        case "min of":
          return OPERATORS.min(items);
        case "sum of":
          return OPERATORS.sum(items);
        case "product of":
          return items.reduce((left, right) => OPERATORS["*"](left, right), 1n);
        case "any":
          return items.some(truth);
        default:
          return items.every(truth);
      }
    }

    // Where a value goes into a sequence: only the elements that a search asks for are computed.
    bisected(name, [keys, wanted]) {
      const value = this.value(wanted);
      const found = this.keys(keys);
      if (!found || value instanceof Off) return new Off(name);
      let low = 0n;
      let high = found.count;
      while (low < high) {
        const middle = (low + high) / 2n;
        const other = found.key(middle);
        if (other instanceof Off) return other;
        if (name === "bisect_right" ? less(value, other) : !less(other, value)) high = middle;
        else low = middle + 1n;
      }
      return low;
    }

    keys(term) {
      const [sort, name, kind, clause, element] = this.nodes[term];
      const parts = sort === "o" && name === "each" ? this.nodes[clause] : [];
      if (parts.length !== 4 || parts[1] !== "for" || this.nodes[kind][1] !== "list") return this.positions(term);
      const found = this.positions(parts[3]);
      const key = (at) => {
        const inner = new Evaluation(this.nodes, this.lookup);
        inner.row = new Map(this.row || []).set(this.nodes[parts[2]][1], found.key(at));
        return inner.value(element);
      };
      return found && { count: found.count, key };
    }

    // A range is not written out: it may be longer than a list that could be.
    positions(term) {
      const [sort, name, ...args] = this.nodes[term];
      if (sort === "o" && name === "range" && args.length === 1) {
        const stop = this.value(args[0]);
        return isInt(stop) ? { count: toInt(stop) > 0n ? toInt(stop) : 0n, key: (at) => at } : null;
      }
      const items = this.value(term);
      return Array.isArray(items) ? { count: BigInt(items.length), key: (at) => items[Number(at)] } : null;
    }

    comprehension([kind, ...parts]) {
      const isClause = (part) => this.nodes[part][0] === "o" && this.nodes[part][1] === "for";
      const clauses = parts.filter(isClause).map((part) => this.nodes[part].slice(2));
      const elements = parts.slice(clauses.length);
      const sort = this.nodes[kind][0] === "c" ? this.nodes[kind][1] : null;
      if (elements.length !== 1 || !["list", "generator", "set"].includes(sort)) return new Off("each");
      const found = [];
      const off = this.rows(clauses, (inner) => found.push(inner.value(elements[0])));
      return off || (sort === "set" ? unique(found) : found);
    }

    // Calls `use` for each combination of loop variables; an Off when a sequence is not known.
    rows(clauses, use) {
      if (!clauses.length) {
        use(this);
        return null;
      }
      const [variable, iterable, ...conditions] = clauses[0];
      const items = this.value(iterable);
      if (!Array.isArray(items) || items.length > 10000) return items instanceof Off ? items : new Off("each");
      for (const value of items) {
        const inner = new Evaluation(this.nodes, this.lookup);
        inner.row = new Map(this.row || []);
        inner.row.set(this.nodes[variable][1], value);
        if (!conditions.every((condition) => truth(inner.value(condition)))) continue;
        const off = inner.rows(clauses.slice(1), use);
        if (off) return off;
      }
      return null;
    }
  }

  function range(first, last, step) {
    const [start, stop, by] = last === undefined ? [0n, first, 1n] : [first, last, step === undefined ? 1n : step];
    if (by === 0n) fail("ValueError");
    const found = [];
    for (let value = start; by > 0n ? value < stop : value > stop; value += by) {
      found.push(value);
      if (found.length > 10001) break;
    }
    return found;
  }

  // --- one release under one scenario ----------------------------------------------------

  class Binding {
    constructor(program, given) {
      this.program = program;
      this.names = program.names;
      this.given = given;
      this.known = new Map();
      this.pending = new Set();
      this.evaluation = new Evaluation(program.nodes, (name) => this.find(name));
    }

    value(index) {
      return this.evaluation.value(index);
    }

    find(name) {
      if (!this.known.has(name)) this.known.set(name, this.search(name));
      return this.known.get(name);
    }

    search(name) {
      if (this.given.has(name)) return this.given.get(name);
      let raised = null;
      let found = new Off(name);
      for (const candidate of this.names[name] || []) {
        let value;
        try {
          value = this.attempt(name, candidate);
        } catch (error) {
          if (!(error instanceof Raised)) throw error;
          raised ||= error;
          continue;
        }
        if (!(value instanceof Off)) return value;
        // Another name for a record that nobody gave: the two are one and the same.
        if (this.program.records.includes(value.name)) found = value;
      }
      if (raised) throw raised;
      if (this.program.declared.includes(name)) throw new Missing(name);
      return found;
    }

    attempt(name, candidate) {
      if (this.pending.has(name)) return new Off(name);
      this.pending.add(name);
      try {
        return this.value(candidate);
      } catch (error) {
        if (error instanceof Missing) return new Off(name);
        throw error;
      } finally {
        this.pending.delete(name);
      }
    }

    // Whether nothing gives an input a value.
    isUnset(name) {
      try {
        const value = this.find(name);
        return value === null || value instanceof Off;
      } catch (error) {
        if (error instanceof Missing) return true;
        throw error;
      }
    }

    // The inputs that a term lacks on the branches that the known ones lead to.
    missing(index, found = new Set(), seen = new Set()) {
      if (seen.has(index)) return found;
      seen.add(index);
      if (!this.lacks(index)) return found;
      const before = found.size;
      for (const part of this.lacking(index)) this.missing(part, found, seen);
      const node = this.program.nodes[index];
      if (node[0] === "$" && found.size === before) found.add(node[1]);
      return found;
    }

    lacks(index) {
      try {
        return this.value(index) instanceof Off;
      } catch (error) {
        if (error instanceof Missing) return true;
        if (error instanceof Raised) return false;
        throw error;
      }
    }

    lacking(index) {
      const node = this.program.nodes[index];
      if (node[0] === "$") return (this.names[node[1]] || []).slice(0, this.program.defined.includes(node[1]) ? 1 : 0);
      if (node[0] === "a" || node[0] === "o") return node.slice(2);
      if (node[0] !== "?") return [];
      try {
        return [truth(this.value(node[1])) ? node[2] : node[3]];
      } catch (error) {
        if (error instanceof Missing || error instanceof Raised) return [node[1]];
        throw error;
      }
    }
  }

  // Follows the raises before a value along the branches that what is known leads to; where it leads to none, all of
  // them. What the inputs in `leftOpen` decide is not known.
  class Refusal {
    constructor(binding, leftOpen) {
      this.binding = binding;
      this.nodes = binding.program.nodes;
      this.leftOpen = leftOpen;
      this.known = new Map();
      this.reads = new Map();
    }

    // The exception that SGLang raises; null where it raises none, or where that cannot be told.
    exception(root) {
      if (root < 0) return null;
      const outcomes = new Set(this.reached(root).map((index) => this.nodes[index][0] === "!"));
      if (outcomes.size > 1) return null;
      let index = root;
      while (this.nodes[index][0] === "?") index = this.nodes[index][this.holds(this.nodes[index][1]) ? 2 : 3];
      return this.nodes[index][0] === "!" ? this.nodes[index][1] : null;
    }

    reached(root) {
      const [waiting, seen, found] = [[root], new Set(), []];
      while (waiting.length) {
        const index = waiting.pop();
        if (seen.has(index)) continue;
        seen.add(index);
        const [kind, guard, then, otherwise] = this.nodes[index];
        if (kind !== "?") {
          found.push(index);
          continue;
        }
        const holds = this.holds(guard);
        if (holds !== true) waiting.push(otherwise);
        if (holds !== false) waiting.push(then);
      }
      return found;
    }

    // Whether a guard holds, null when what is known does not say.
    holds(index) {
      if (!this.known.has(index)) {
        let held = false;
        try {
          held = this.decide(index);
        } catch (error) {
          // An operation that fails on its operands is no statement that stops the server.
          if (!(error instanceof Raised)) throw error;
        }
        this.known.set(index, held);
      }
      return this.known.get(index);
    }

    decide(index) {
      const [kind, ...parts] = this.nodes[index];
      if (kind === "a" && parts[0] === "not") {
        const held = this.decide(parts[1]);
        return held === null ? null : !held;
      }
      if (kind === "a" && (parts[0] === "and" || parts[0] === "or")) return this.connective(parts.slice(1), parts[0] === "or");
      if (kind !== "?") return this.compute(index);
      const held = this.decide(parts[0]);
      if (held !== null) return this.decide(held ? parts[1] : parts[2]);
      const [one, other] = [this.holds(parts[1]), this.holds(parts[2])];
      return one === other ? one : null;
    }

    // An operand that decides does so whatever an unknown one before it is.
    connective(args, until) {
      let unknown = false;
      for (const arg of args) {
        const held = unknown ? this.holds(arg) : this.decide(arg);
        if (held === until) return until;
        unknown ||= held === null;
      }
      return unknown ? null : !until;
    }

    compute(index) {
      if (this.leftOpen.size && this.asksOpen(index)) return null;
      try {
        return truth(this.binding.value(index));
      } catch (error) {
        if (error instanceof Missing) return null;
        throw error;
      }
    }

    asksOpen(index) {
      if (!this.reads.has(index)) {
        const [kind, ...parts] = this.nodes[index];
        const below = kind === "?" ? parts : kind === "a" || kind === "o" ? parts.slice(1) : [];
        this.reads.set(index, kind === "$" ? this.leftOpen.has(parts[0]) : below.some((part) => this.asksOpen(part)));
      }
      return this.reads.get(index);
    }
  }

  function outcome(binding, given, name, [index, error], leftOpen) {
    if (given.has(name)) return { value: given.get(name) };
    const exception = new Refusal(binding, leftOpen).exception(error);
    if (exception !== null) return { value: null, error: exception };
    try {
      const value = binding.value(index);
      if (value instanceof Off) throw new Missing(value.name);
      return value === null ? { value, absent: true } : { value: value instanceof Atom ? value.name : value };
    } catch (problem) {
      if (problem instanceof Raised) return { value: null, error: problem.exception };
      if (!(problem instanceof Missing)) throw problem;
      if (problem.name_ === "not set") return { value: null, absent: true };
      const names = [...binding.missing(index)].sort();
      return { value: null, missing: names.length ? names : [name] };
    }
  }

  // Every quantity of `program` under `scenario` for inputs in a Map.
  function evaluate(program, scenario, given) {
    const fixed = Object.entries(program.scenarios[scenario].fixed).map(([name, value]) => [name, literal(value)]);
    const known = new Map([...fixed, ...given]);
    const binding = new Binding(program, known);
    // What a server of this scenario has a value for, and nobody gave.
    const open = program.scenarios[scenario].open.filter((name) => !given.has(name) && binding.isUnset(name));
    const leftOpen = new Set(open);
    const found = {};
    for (const [name, roots] of Object.entries(program.results)) {
      const result = outcome(binding, given, name, roots, leftOpen);
      const needed = result.error ? unknown(program, known, given, name, roots, leftOpen, result.error) : [];
      found[name] = { unit: program.units[name], ...(needed.length ? { value: null, missing: needed } : result) };
    }
    return found;
  }

  // What nobody told that an error hangs on: with another value of it, SGLang would not raise.
  function unknown(program, known, given, name, roots, leftOpen, error) {
    const differs = (guess, value) => {
      const binding = new Binding(program, new Map([...known, [guess, literal(value)]]));
      return outcome(binding, given, name, roots, leftOpen).error !== error;
    };
    return Object.keys(program.guesses).filter(
      (guess) => !known.has(guess) && program.guesses[guess].some((value) => differs(guess, value)),
    );
  }

  // A value of a scenario as the data has it; none of them is a float.
  function literal(value) {
    if (Array.isArray(value)) return value.map(literal);
    return typeof value === "number" && Number.isInteger(value) ? BigInt(value) : value;
  }

  // An input as a person or a case writes it: JSON whose numbers keep their type, else a plain string.
  function parse(source) {
    const trimmed = source.trim();
    if (/^[+-]?\d+$/.test(trimmed)) return BigInt(trimmed.replace("+", ""));
    if (/^[+-]?(\d+\.\d*|\.\d+|\d+)(e[+-]?\d+)?$/i.test(trimmed)) return Number(trimmed);
    if (trimmed === "true" || trimmed === "false") return trimmed === "true";
    if (trimmed === "null" || trimmed === "None") return null;
    if (!/^(".*"|\[.*\])$/s.test(trimmed)) return trimmed;
    try {
      return literal(JSON.parse(trimmed));
    } catch {
      return trimmed;
    }
  }

  return { evaluate, parse, text, operators: OPERATORS, Raised, Missing };
})();
