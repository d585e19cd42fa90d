import * as z from 'zod';

/** Whom the token service names. */
export interface CallerIdentity {
  arn: string;
  /** Twelve digits. */
  account: string;
}

const resultSchema = z.object({
  GetCallerIdentityResponse: z.object({
    GetCallerIdentityResult: z.object({ Arn: z.string(), Account: z.string() }),
  }),
});

/** Reads what GetCallerIdentity answers, as JSON or XML; `null` when it names nobody, or not plainly. */
export function readCallerIdentity(text: string): CallerIdentity | null {
  const said = text.trimStart().startsWith('<') ? inXml(text) : inJson(text);
  if (said === null) return null;
  const account = /^arn:aws[a-z-]*:(?:iam|sts)::(\d{12}):[\x21-\x7e]{1,1024}$/.exec(said.arn)?.[1];
  return account !== undefined && account === said.account ? said : null;
}

function inJson(text: string): CallerIdentity | null {
  try {
    const { Arn: arn, Account: account } = resultSchema.parse(JSON.parse(text))
      .GetCallerIdentityResponse.GetCallerIdentityResult;
    return { arn, account };
  } catch {
    return null;
  }
}

/** The values are plain text without entities, each once; anything else is not understood. */
function inXml(text: string): CallerIdentity | null {
  const arn = onlyElement(text, 'Arn');
  const account = onlyElement(text, 'Account');
  const isAnswer = onlyElement(text, 'GetCallerIdentityResult') !== null && !text.includes('<!');
  return isAnswer && arn !== null && account !== null ? { arn, account } : null;
}

function onlyElement(text: string, name: string): string | null {
  const parts = text.split(`<${name}>`);
  const [content, ...rest] = parts[1]?.split(`</${name}>`) ?? [];
  return parts.length === 2 && rest.length === 1 ? (content ?? null) : null;
}
