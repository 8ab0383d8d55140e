/** The text before and after the JSON string of a path, in the JSON of a planned file up to its time. */
export const BEFORE = Buffer.from(',{"path":');
export const AFTER = Buffer.from(',"time_execution":');
