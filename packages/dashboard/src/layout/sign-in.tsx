import { CopyBlock } from "../parts/copy-button.tsx";

export function SignIn() {
  return (
    <section className="grid max-w-[560px] gap-4 py-16">
      <h1>Log in to see this page</h1>
      <p>Whoever runs this installation can print a link that logs one browser in, once:</p>
      <CopyBlock text="emend user link" />
      <p className="text-quiet">
        In a checkout of the repository: <code>npm run emend -- user link</code>
      </p>
    </section>
  );
}
