/** The decisions of a rule that need a note. */
export type RequiredReason = 'approve' | 'reject' | 'both';

/** The terms of a wait that an option of a rule states, one for each; a term is absent if the option is off. */
export interface OptionTerms {
  /** The requester may not decide. */
  fourEyes?: true;
  /** The decisions that need a note. */
  requireReason?: RequiredReason;
  /** Approvals need a passkey; they never count for later calls. */
  requirePasskey?: true;
  /** An approval may change the arguments. */
  isEditable?: true;
  /** The arguments that a list of waiting calls shows, such as `args.amount`; absent for the short ones. */
  display?: readonly string[];
  /** Messages in a chat mention the approvers. */
  mention?: true;
}

/** How every reader of rules and of waiting calls treats an option. */
interface RuleOption<Value> {
  /** Name in a rule and in JSON. */
  key: string;
  /** Description of a waiting call's field in the API. */
  about: string;
  /** Values in JSON: `true` alone, one of these words, or a list of strings. */
  values: 'flag' | 'list' | readonly string[];
  /** Returns a value as strict as both; absent if no value is stricter, so that the first one counts. */
  stricter?: (one?: Value, other?: Value) => Value | undefined;
  /** Returns the sentence that approvers read; absent for no sentence. */
  words?: (value: Value) => string;
}

/** The options. The schema of a rule checks them (`schema-defer.ts`); what enforces them reads the term. */
export const ruleOptions = {
  fourEyes: {
    key: 'four_eyes',
    about: 'The requester may not decide.',
    values: 'flag',
    stricter: (one, other) => one || other,
    words: () => 'Four eyes: the requester may not decide.',
  },
  requireReason: {
    key: 'require_reason',
    about: 'The decisions that need a note; absent for none.',
    values: ['approve', 'reject', 'both'],
    stricter: (one, other) =>
      one === undefined || other === undefined || one === other ? (one ?? other) : 'both',
    words: (needed) => reasonWords[needed],
  },
  requirePasskey: {
    key: 'require_passkey',
    about: 'An approval needs a passkey on the approvals page.',
    values: 'flag',
    stricter: (one, other) => one || other,
    words: () => 'An approval needs a passkey, on the approvals page.',
  },
  isEditable: {
    key: 'edit',
    about: 'An approval may change the arguments.',
    values: 'flag',
    stricter: (one, other) => one && other,
  },
  display: {
    key: 'display',
    about: 'The arguments that a list shows, such as args.amount; absent for the short ones.',
    values: 'list',
  },
  mention: {
    key: 'mention',
    about: 'Messages in a chat mention the approvers.',
    values: 'flag',
  },
} as const satisfies { [Term in keyof OptionTerms]-?: RuleOption<NonNullable<OptionTerms[Term]>> };

const reasonWords = {
  approve: 'An approval needs a reason.',
  reject: 'A rejection needs a reason.',
  both: 'A decision needs a reason.',
} as const satisfies Record<RequiredReason, string>;

type Options = typeof ruleOptions;

/** The options in JSON; an option that is off is absent. */
export type OptionsJson = {
  [Term in keyof Options as Options[Term]['key']]?: Written<NonNullable<OptionTerms[Term]>>;
};

type Written<Value> = Value extends readonly string[] ? string[] : Value;

/** The options, each with its term. */
export const allOptions = Object.entries(ruleOptions) as [
  keyof OptionTerms,
  RuleOption<never> & { key: keyof OptionsJson },
][];

/** Reads the terms from a rule, or from JSON; `false` and a missing key mean that an option is off. */
export function optionTerms(
  rule: {
    readonly [Key in keyof OptionsJson]?: OptionsJson[Key] | false | undefined;
  },
): OptionTerms {
  return renamed(allOptions.map(([term, { key }]) => [term, rule[key]]));
}

/** Returns the options that are on in JSON. */
export function optionsJson(terms: OptionTerms): OptionsJson {
  return renamed(allOptions.map(([term, { key }]) => [key, terms[term]]));
}

/** Returns the options' terms without other fields. */
export function onlyOptions(terms: OptionTerms): OptionTerms {
  return renamed(allOptions.map(([term]) => [term, terms[term]]));
}

function renamed<Result>(entries: [name: string, value: unknown][]): Result {
  return Object.fromEntries(
    entries.filter(([, value]) => value !== undefined && value !== false),
  ) as Result;
}

/** Returns what the options demand of a decision, one sentence each. */
export function optionWords(terms: OptionTerms): string[] {
  return allOptions.flatMap(([term, { words }]) => {
    const value = terms[term];
    return value === undefined || words === undefined ? [] : [words(value as never)];
  });
}
