// @ts-check
// The types of the library as one file that needs nothing else. The result types of src/ are made by typebox from the
// schemas; here they are written out, so that who uses the library needs neither typebox nor our sources.
import ts from 'typescript';

const { SymbolFlags, TypeFlags, ObjectFlags, SyntaxKind } = ts;
/** Nested so deep, a type goes round in circles. */
const DEEPEST = 40;
/** What a union ends with. */
const LAST = ['null', 'undefined'];

/**
 * The declarations of everything that a module exports.
 *
 * @param {string} entry  path of the module
 * @returns {string}
 */
export function declarationsOf(entry) {
  const config = ts.parseJsonConfigFileContent(
    ts.readConfigFile('tsconfig.json', ts.sys.readFile).config,
    ts.sys,
    '.',
  );
  const program = ts.createProgram([entry], { ...config.options, noEmit: true });
  const source = program.getSourceFile(entry);
  const checker = program.getTypeChecker();
  const module = source && checker.getSymbolAtLocation(source);
  if (!module) throw new Error(`${entry} is no module`);
  return new Writer(checker, checker.getExportsOfModule(module)).text();
}

class Writer {
  /** @type {Map<ts.Type, string>} */
  #names = new Map();
  #depth = 0;

  /** @param {ts.TypeChecker} checker @param {readonly ts.Symbol[]} exported */
  constructor(checker, exported) {
    this.checker = checker;
    this.exported = exported.map((symbol) => ({
      name: symbol.name,
      symbol: symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol,
    }));
    for (const { name, symbol } of this.exported) {
      if (symbol.flags & (SymbolFlags.TypeAlias | SymbolFlags.Interface | SymbolFlags.Class)) {
        this.#names.set(checker.getDeclaredTypeOfSymbol(symbol), name);
      }
    }
  }

  text() {
    const parts = this.exported.map(
      ({ name, symbol }) => `${this.#doc(symbol, '')}${this.#declaration(name, symbol)}`,
    );
    return `${parts.join('\n\n')}\n`;
  }

  /** @param {string} name @param {ts.Symbol} symbol */
  #declaration(name, symbol) {
    const { checker } = this;
    if (symbol.flags & SymbolFlags.Function) {
      return checker
        .getTypeOfSymbol(symbol)
        .getCallSignatures()
        .map((signature) => `export declare function ${name}${this.#signature(signature, ': ')};`)
        .join('\n');
    }
    const type = checker.getDeclaredTypeOfSymbol(symbol);
    if (symbol.flags & SymbolFlags.Class) return this.#classOf(name, symbol, type);
    if (symbol.flags & (SymbolFlags.Interface | SymbolFlags.TypeAlias)) {
      return `export type ${name} = ${this.#type(type, '', true)};`;
    }
    return `export declare const ${name}: ${this.#type(checker.getTypeOfSymbol(symbol), '')};`;
  }

  /** @param {string} name @param {ts.Symbol} symbol @param {ts.Type} type */
  #classOf(name, symbol, type) {
    const { checker } = this;
    const parameters = this.#parametersOf(symbol).map((each) => {
      const bound = each.getConstraint();
      const initial = each.getDefault();
      return `${each.symbol.name}${bound ? ` extends ${this.#type(bound, '')}` : ''}${initial ? ` = ${this.#type(initial, '')}` : ''}`;
    });
    const [base] = checker.getBaseTypes(/** @type {ts.InterfaceType} */ (type));
    const own = [...(symbol.members?.values() ?? [])].filter(
      (member) => member.flags & (SymbolFlags.Property | SymbolFlags.Method | SymbolFlags.Accessor),
    );
    const constructors = checker
      .getTypeOfSymbol(symbol)
      .getConstructSignatures()
      .map((signature) => `  constructor${this.#signature(signature, null)};`);
    const generic = parameters.length > 0 ? `<${parameters.join(', ')}>` : '';
    const above = base ? ` extends ${this.#type(base, '')}` : '';
    return `export declare class ${name}${generic}${above} {\n${[...constructors, ...own.map((member) => this.#member(member, '  '))].join('\n')}\n}`;
  }

  /** @param {ts.Symbol} symbol @returns {ts.Type[]} */
  #parametersOf(symbol) {
    const declaration = symbol.declarations?.find(ts.isClassDeclaration);
    return (declaration?.typeParameters ?? []).map((each) => this.checker.getTypeAtLocation(each));
  }

  /** @param {ts.Symbol} symbol @param {string} indent @returns {string} */
  #member(symbol, indent) {
    const { checker } = this;
    const declaration = symbol.valueDeclaration ?? symbol.declarations?.[0];
    const isOptional = (symbol.flags & SymbolFlags.Optional) !== 0;
    const doc = this.#doc(symbol, indent);
    const name = /^[A-Za-z_]\w*$/.test(symbol.name) ? symbol.name : JSON.stringify(symbol.name);
    const type = checker.getTypeOfSymbol(symbol);
    if (symbol.flags & SymbolFlags.Method) {
      const [signature] = type.getCallSignatures();
      if (signature) return `${doc}${indent}${name}${this.#signature(signature, ': ', indent)};`;
    }
    const isReadonly =
      symbol.flags & SymbolFlags.GetAccessor ||
      (declaration && ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Readonly);
    // The checker adds undefined to what may be left out.
    const shown = this.#type(type, indent).replace(isOptional ? / \| undefined$|^undefined \| / : /$^/, '');
    return `${doc}${indent}${isReadonly ? 'readonly ' : ''}${name}${isOptional ? '?' : ''}: ${shown};`;
  }

  /** @param {ts.Signature} signature @param {string | null} arrow  null: without a result @param {string} [indent] @returns {string} */
  #signature(signature, arrow, indent = '') {
    const parameters = signature.getParameters().map((parameter) => {
      const { valueDeclaration } = parameter;
      if (!valueDeclaration || !ts.isParameter(valueDeclaration))
        throw new Error(`${parameter.name}: what is that?`);
      const type = this.checker.getTypeOfSymbol(parameter);
      const isOptional =
        valueDeclaration.initializer !== undefined || valueDeclaration.questionToken !== undefined;
      const name = ts.isIdentifier(valueDeclaration.name) ? parameter.name : 'options';
      return `${name}${isOptional ? '?' : ''}: ${this.#type(type, indent)}`;
    });
    const result = arrow === null ? '' : `${arrow}${this.#type(signature.getReturnType(), indent)}`;
    return `(${parameters.join(', ')})${result}`;
  }

  /** @param {ts.Type} type @param {string} indent @param {boolean} [isDefinition]  its name is what is declared @returns {string} */
  #type(type, indent, isDefinition = false) {
    const alias = this.exported.find(({ symbol }) => symbol === type.aliasSymbol && !type.aliasTypeArguments);
    const named = this.#names.get(type) ?? alias?.name;
    if (named !== undefined && !isDefinition) return named;
    if (this.#depth > DEEPEST)
      throw new Error(`${this.checker.typeToString(type)} has no end: export it by name`);
    this.#depth++;
    try {
      return this.#written(type, indent);
    } finally {
      this.#depth--;
    }
  }

  /** @param {ts.Type} type @param {string} indent @returns {string} */
  #written(type, indent) {
    if (type.isUnion()) return this.#union(type, indent);
    if (type.flags & TypeFlags.Object) return this.#object(/** @type {ts.ObjectType} */ (type), indent);
    if (type.isIntersection()) return this.#shape(type, indent);
    return this.checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation);
  }

  /** @param {ts.UnionType} type @param {string} indent @returns {string} */
  #union(type, indent) {
    // true and false are one type to a reader.
    const isBoolean = type.types.filter((each) => each.flags & TypeFlags.BooleanLiteral).length === 2;
    const words = type.types
      .filter((each) => !(isBoolean && each.flags & TypeFlags.BooleanLiteral))
      .map((each) => this.#type(each, indent));
    return [...(isBoolean ? ['boolean'] : []), ...words]
      .sort((a, b) => LAST.indexOf(a) - LAST.indexOf(b))
      .map((word) => (word.includes('=>') ? `(${word})` : word))
      .join(' | ');
  }

  /** @param {ts.ObjectType} type @param {string} indent @returns {string} */
  #object(type, indent) {
    const { checker } = this;
    if (checker.isArrayType(type) || checker.isTupleType(type)) {
      const members = checker
        .getTypeArguments(/** @type {ts.TypeReference} */ (type))
        .map((each) => this.#type(each, indent));
      if (checker.isTupleType(type)) return `readonly [${members.join(', ')}]`;
      const [member = 'unknown'] = members;
      const [of] = checker.getTypeArguments(/** @type {ts.TypeReference} */ (type));
      const isOneWord = /^[\w.]+$/.test(member);
      const array = isOneWord || !(of?.isUnion() || member.includes('=>')) ? `${member}[]` : `(${member})[]`;
      return type.symbol.name === 'ReadonlyArray' ? `readonly ${array}` : array;
    }
    const [call] = type.getCallSignatures();
    if (call) return this.#signature(call, ' => ', indent);
    const declaration = type.symbol?.declarations?.[0];
    const isKnownEverywhere =
      declaration && /\/node_modules\/(typescript|@types\/node)\//.test(declaration.getSourceFile().fileName);
    const isNamed = declaration && !ts.isMappedTypeNode(declaration) && !ts.isTypeLiteralNode(declaration);
    if (isKnownEverywhere && isNamed) {
      const given =
        type.objectFlags & ObjectFlags.Reference
          ? checker
              .getTypeArguments(/** @type {ts.TypeReference} */ (type))
              .map((each) => this.#type(each, indent))
          : [];
      // The buffer behind an array is a parameter only newer libraries have.
      const isBytes = type.symbol.name === 'Uint8Array';
      return given.length > 0 && !isBytes ? `${type.symbol.name}<${given.join(', ')}>` : type.symbol.name;
    }
    return this.#shape(type, indent);
  }

  /** @param {ts.Type} type @param {string} indent @returns {string} */
  #shape(type, indent) {
    const inner = `${indent}  `;
    const indexes = this.checker
      .getIndexInfosOfType(type)
      .map(
        ({ keyType, type: value, isReadonly }) =>
          `${inner}${isReadonly ? 'readonly ' : ''}[key: ${this.#type(keyType, inner)}]: ${this.#type(value, inner)};`,
      );
    const members = type.getProperties().map((member) => this.#member(member, inner));
    if (members.length + indexes.length === 0) return '{}';
    return `{\n${[...members, ...indexes].join('\n')}\n${indent}}`;
  }

  /** @param {ts.Symbol} symbol @param {string} indent */
  #doc(symbol, indent) {
    const node = symbol.declarations?.[0];
    if (!node) return '';
    const [comment] = ts
      .getJSDocCommentsAndTags(node)
      .filter((each) => each.kind === SyntaxKind.JSDoc)
      .slice(-1);
    if (!comment || comment.getSourceFile().fileName.includes('/node_modules/')) return '';
    const lines = comment
      .getText()
      .split('\n')
      .map((line) => line.trim());
    return `${lines.map((line, index) => `${indent}${index === 0 ? '' : ' '}${line}`).join('\n')}\n`;
  }
}
