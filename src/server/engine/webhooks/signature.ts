import { createHmac } from 'node:crypto';

/** The value of the header Ballast-Signature. @param timestamp that of the header Ballast-Timestamp */
export function signatureOf(secret: string, timestamp: string, body: string): string {
  return `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;
}
