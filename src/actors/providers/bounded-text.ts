/** Reads the text of a response. Rejects with RangeError beyond `longest` characters, and does not read the rest. */
export async function boundedText({ body }: Response, longest: number): Promise<string> {
  const decoder = new TextDecoder();
  const parts: AsyncIterable<Uint8Array> | null = body;
  let text = '';
  // Leaving the loop cancels the rest.
  for await (const part of parts ?? []) {
    text += decoder.decode(part, { stream: true });
    if (text.length > longest) throw new RangeError('the answer is too long');
  }
  return text;
}
