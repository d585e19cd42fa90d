/** A tool as a provider was offered it, and its name here. */
export interface OfferedName {
  wire: string;
  tool: string;
}

/** The place of a tool in a request, in the words of google, and of anthropic and openai. */
const places = [/function_?declarations\[(\d{1,4})\]/i, /\btools(?:\.|\[)(\d{1,4})\b/];

/** Returns the tool that a provider names where it refuses a request; `null` where it names none. */
export function refusedTool(message: string, tools: readonly OfferedName[]): string | null {
  const named = tools.find(({ wire }) =>
    [`'${wire}'`, `"${wire}"`, `\`${wire}\``].some((quoted) => message.includes(quoted)),
  );
  if (named !== undefined) return named.tool;
  const place = places.map((one) => one.exec(message)?.[1]).find((found) => found !== undefined);
  return place === undefined ? null : (tools[Number(place)]?.tool ?? null);
}
