/** What a colour says: one of the five decisions, or nothing. */
export type Tone = 'plain' | 'allow' | 'deny' | 'modify' | 'step-up' | 'hold';
