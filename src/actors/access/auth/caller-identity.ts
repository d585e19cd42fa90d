import * as z from 'zod';

/** The identity that the token service returns. */
export interface CallerIdentity {
  arn: string;
  /** Account id: twelve digits. */
  account: string;
}

const resultSchema = z.object({
  GetCallerIdentityResponse: z.object({
    GetCallerIdentityResult: z.object({ Arn: z.string(), Account: z.string() }),
  }),
});

/**
 * Parses a GetCallerIdentity response in JSON or XML. Returns `null` if it contains no identity or an ambiguous one.
 */
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

/** Accepts only plain text values without entities, each exactly once; returns `null` for anything else. */
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
