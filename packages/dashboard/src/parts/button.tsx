import type { ButtonHTMLAttributes } from "react";

const looks = {
  primary: "border-accent bg-accent font-semibold text-on-accent hover:brightness-95",
  ordinary: "border-line bg-sheet font-semibold text-ink hover:border-quiet",
  danger: "border-line bg-sheet font-semibold text-bad hover:border-bad",
  plain: "border-transparent bg-transparent text-quiet hover:text-ink",
} as const;

export const buttonLook = (look: keyof typeof looks) =>
  `inline-flex min-h-9 items-center justify-center gap-1.5 rounded-md border px-3.5 py-1.5 whitespace-nowrap no-underline disabled:opacity-55 ${looks[look]}`;

export function Button({
  look = "ordinary",
  className = "",
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { look?: keyof typeof looks }) {
  return <button type="button" className={`${buttonLook(look)} ${className}`} {...rest} />;
}
