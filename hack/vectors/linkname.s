// Empty: it lets names.go declare functions without bodies, which the linker finds in other packages.
