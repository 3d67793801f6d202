"""The only writers of bronze: landing, quarantine and their bookkeeping."""
